// Before first paint: the theme the user chose, else the system's (then no attribute is set).
(() => {
  const root = document.documentElement;
  const apply = (choice) => {
    if (choice === "light" || choice === "dark") root.dataset.bsTheme = choice;
    else delete root.dataset.bsTheme;
    for (const button of document.querySelectorAll("[data-theme]")) {
      button.setAttribute("aria-pressed", String(button.dataset.theme === (choice || "system")));
    }
  };
  const stored = () => localStorage.getItem("detiq.theme");
  apply(stored());
  addEventListener("DOMContentLoaded", () => apply(stored()));
  addEventListener("storage", () => apply(stored()));
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme]");
    if (!button) return;
    localStorage.setItem("detiq.theme", button.dataset.theme);
    apply(stored());
  });
})();
