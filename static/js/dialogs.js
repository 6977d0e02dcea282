// Dialogs, forms in flight, toasts and the live region.
(() => {
  const say = (text) => { const region = document.getElementById("announcer"); if (region) region.textContent = text; };
  document.addEventListener("detiq:say", (event) => say(event.detail));

  // toast({text, url, label, undo_url, undo_until, refused}): text only, never HTML
  function toast({ text, url, label, undo_url: undo, undo_until: undoUntil, refused }) {
    const [box, item] = [document.getElementById("toasts"), document.getElementById("toast-template").content.firstElementChild.cloneNode(true)];
    const [words, link, form] = [item.querySelector("[data-text]"), item.querySelector("a"), item.querySelector("form")];
    words.textContent = text;
    item.classList.toggle("refused", Boolean(refused));
    if (url) [link.href, link.textContent, link.hidden] = [new URL(url, location.origin).pathname + new URL(url, location.origin).search, label || "Show", false];
    if (undo) { [form.action, form.hidden] = [new URL(undo, location.origin).pathname, false]; if (undoUntil) form.querySelector("time").dateTime = undoUntil; }
    box.append(item);
    if (!refused) setTimeout(() => item.remove(), undo ? 30000 : 8000);
  }
  document.addEventListener("detiq:toast", (event) => toast(event.detail));
  const refuse = (text) => toast({ text, refused: true });

  const dialog = () => document.getElementById("dialog");
  const reasons = { 403: "Your role may not do this.", 404: "It is no longer there; nothing changed.", 409: "It changed meanwhile; nothing was done.", 413: "That is too much in one request.", 429: "Too many requests; try again in a minute.", 503: "The console is not ready; nothing was done." };
  document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
    const html = new DOMParser().parseFromString(xhr.responseText, "text/html");
    const said = html.querySelector("[data-error-text]")?.textContent.trim();
    const plain = (xhr.getResponseHeader("Content-Type") || "").startsWith("text/plain") && xhr.responseText.slice(0, 300);
    refuse(said || plain || reasons[xhr.status] || `The server could not do it (${xhr.status}); see Audit for what was done.`);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, () => refuse("Not sent: no connection to the server. What you typed is still here."));
  document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
    if (target.id !== "dialog") return;
    if (!target.firstElementChild) target.close();
    else if (!target.open) target.showModal();
    target.querySelector("[autofocus]")?.focus();
  });
  document.addEventListener("detiq:close", () => dialog()?.close());

  addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog-open]");
    if (opener) { event.preventDefault(); document.querySelector(opener.dataset.dialogOpen).showModal(); }
    if (event.target.closest("[data-dialog-close]")) { event.preventDefault(); event.target.closest("dialog").close(); }
    if (event.target.closest("[data-toast-close]")) event.target.closest(".toast").remove();
    const peek = event.target.closest("[data-show-password]");
    if (peek) { const field = document.getElementById(peek.dataset.showPassword); field.type = field.type === "password" ? "text" : "password"; peek.textContent = field.type === "password" ? "Show" : "Hide"; }
  });

  // the command in a dialog says what its fields say; quoted as a shell wants it
  document.addEventListener("input", ({ target: { form, name, value } }) => form?.querySelectorAll(`[data-says="${name}"]`).forEach((word) => { word.textContent = /^[\w@%+=:,./-]+$/.test(value.trim()) ? value.trim() : `'${(value.trim() || "…").replaceAll("'", "'\"'\"'")}'`; }));

  // a form is sent once: while it is under way its buttons are off, and a second submit is dropped
  const busy = (form, on) => {
    form.toggleAttribute("data-busy", on);
    form.setAttribute("aria-busy", String(on));
    for (const button of form.querySelectorAll("[type=submit]")) {
      if (on && !button.disabled) { button.disabled = true; button.dataset.wasOn = ""; }
      if (!on && "wasOn" in button.dataset) { button.disabled = false; delete button.dataset.wasOn; }
    }
  };
  const blank = (field) => field.required && !field.value.trim();
  document.addEventListener("input", ({ target }) => { if (target.matches("textarea[required]")) target.setCustomValidity(blank(target) ? "A reason is kept in the audit trail; write one." : ""); });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method === "dialog") return;
    if ("busy" in form.dataset) { event.preventDefault(); event.stopImmediatePropagation(); return; }
    const empty = [...form.querySelectorAll("textarea[required]")].find(blank);
    if (empty) { event.preventDefault(); event.stopImmediatePropagation(); empty.setCustomValidity("A reason is kept in the audit trail; write one."); empty.reportValidity(); return; }
    if (!form.matches("[hx-get], [hx-post], [data-download]") && form.method === "post") setTimeout(() => event.defaultPrevented || busy(form, true));
  }, true);
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => elt.matches("form") && busy(elt, true));
  document.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => elt.matches("form") && busy(elt, false));
  addEventListener("pageshow", () => document.querySelectorAll("[data-busy]").forEach((form) => busy(form, false)));
})();
