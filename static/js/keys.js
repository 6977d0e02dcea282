// Single keys and row selection. Letters go somewhere or open a dialog; they never act. Can be switched off in the help (?).
(() => {
  const on = () => localStorage.getItem("detiq.keys") !== "off";
  const rows = () => [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector(".row-link"));
  const current = () => document.querySelector("tr.cursor");
  const press = (key) => document.querySelector(`main [data-key="${CSS.escape(key)}"]:not([disabled])`)?.click();
  let going = -Infinity;
  function move(step) {
    const list = rows(), at = list.indexOf(current());
    const next = list[Math.max(0, Math.min(list.length - 1, at + step))];
    if (!next) return;
    current()?.classList.remove("cursor");
    next.classList.add("cursor");
    next.querySelector(".row-link").focus();
  }
  const actions = {
    "/": () => { const field = document.querySelector("main [data-filter]") || document.querySelector(".find input"); field?.focus(); field?.select(); },
    "?": () => document.getElementById("keys-help")?.showModal(),
    j: () => move(1), k: () => move(-1), g: () => { going = performance.now(); },
    x: () => (current()?.querySelector("[data-select]") || document.activeElement.closest?.("tr")?.querySelector("[data-select]"))?.click(),
    "*": () => document.querySelector("[data-select-page]")?.click(),
    ".": () => document.dispatchEvent(new Event("detiq:refresh")),
    y: () => (current()?.querySelector("[data-copy]") || document.querySelector("main [data-copy]"))?.click(),
    z: () => document.querySelector("[data-zone][aria-pressed=false]")?.click(),
  };
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (key === "Escape" && !target.closest("dialog, [popover]")) return target.matches("input:not([type=checkbox]), textarea") ? target.blur() : clear();
    if (!on() || target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]")) return;
    if (performance.now() - going < 1500 && key.length === 1) { going = -Infinity; event.preventDefault(); return document.querySelector(`.sidebar [data-go="${CSS.escape(key)}"]`)?.click(); }
    if (!actions[key]) return press(key);
    event.preventDefault();
    actions[key]();
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-keys-toggle]")) localStorage.setItem("detiq.keys", target.checked ? "on" : "off");
  });
  addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-keys-toggle]").forEach((box) => { box.checked = on(); }));

  // selection: [data-select] in rows with data-state, [data-select-page] in the head, [data-selection-bar] with buttons [data-eligible="QUEUED …"]
  let last = null;
  const boxes = () => [...document.querySelectorAll("[data-select]")];
  function count() {
    const chosen = boxes().filter((box) => box.checked), bar = document.querySelector("[data-selection-bar]");
    const page = document.querySelector("[data-select-page]");
    if (page) [page.checked, page.indeterminate] = [chosen.length > 0 && chosen.length === boxes().length, chosen.length > 0 && chosen.length < boxes().length];
    if (!bar) return;
    const wasOpen = !bar.hidden;
    bar.hidden = chosen.length === 0;
    for (const link of bar.querySelectorAll("[data-selection-link]")) link.href = `${link.dataset.selectionLink}?${new URLSearchParams(chosen.map((box) => ["id", box.closest("tr").dataset.id]))}`;
    bar.querySelector("[data-selected]").textContent = `${chosen.length} selected`;
    for (const button of bar.querySelectorAll("[data-eligible]")) {
      const states = button.dataset.eligible.split(" ");
      const eligible = chosen.filter((box) => states.includes(box.closest("tr").dataset.state)).length;
      button.querySelector(".count").textContent = eligible;
      button.disabled = eligible === 0;
      if (button.matches("a")) button.setAttribute("aria-disabled", String(eligible === 0));
    }
    if (wasOpen && bar.hidden) document.dispatchEvent(new Event("detiq:unfrozen"));
  }
  function clear() { boxes().forEach((box) => { box.checked = false; }); count(); }
  document.addEventListener("click", (event) => {
    const box = event.target;
    if (box.closest?.("[data-clear-selection]")) return clear();
    if (box.matches?.("[data-select-page]")) boxes().forEach((one) => { one.checked = box.checked; });
    else if (!box.matches?.("[data-select]")) return undefined;
    else if (event.shiftKey && last) { const list = boxes(), [a, b] = [list.indexOf(last), list.indexOf(box)].sort((m, n) => m - n); list.slice(a, b + 1).forEach((one) => { one.checked = box.checked; }); }
    if (box.matches("[data-select]")) last = box;
    return count();
  });
  document.addEventListener("detiq:refreshed", count);
  addEventListener("pageshow", count);
})();
