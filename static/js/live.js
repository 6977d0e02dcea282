// Keeps parts of a page fresh. <section id="rows" data-live data-live-url="/jobs/?…" data-live-topics="jobs pauses" data-live-every="60">
// is fetched again on a hint, after `every` seconds (10 when hints fail), and when the tab is shown; then morphed in place.
(() => {
  const HINT_GAP_MS = 300, POLL_S = 10, SAFETY_S = 60, STALE_AFTER = 3;
  const regions = new WeakMap();
  let stream = "connecting", epoch = 0, actions = 0, ended = false, send = () => {};
  const all = () => [...document.querySelectorAll("[data-live]")];
  const clock = (ms) => new Date(ms + Number(document.body.dataset.zoneSeconds || 0) * 1000).toISOString().slice(11, 19);
  const stateOf = (el) => {
    if (!regions.has(el)) regions.set(el, { busy: null, again: false, failures: 0, ok: detiqTimes.now(), due: 0 });
    return regions.get(el);
  };
  const frozen = (el) => el.matches("[data-frozen]") || el.querySelector("[data-select]:checked");
  const plan = (el, s) => {
    const every = Number(el.dataset.liveEvery) || SAFETY_S;
    const base = stream === "live" ? every : Math.min(every, POLL_S);
    const wait = s.failures ? Math.min(60, POLL_S * 2 ** (s.failures - 1)) * (0.5 + Math.random() / 2) : base;
    s.due = performance.now() + wait * 1000;
  };
  // a field that the user changed keeps its value
  const dirty = (field) => {
    if (field.tagName === "SELECT") return "touched" in field.dataset;
    return ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  };
  const callbacks = {
    beforeNodeMorphed: (old, next) => {
      if (old.nodeType !== 1) return true;
      if (old.matches("[data-keep], dialog[open]") || (old.matches("input:not([type=hidden]), textarea, select") && dirty(old))) return false;
      if (old.matches("[data-flash]") && old.textContent !== next.textContent) next.classList.add("changed");
      return true;
    },
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.matches("details, dialog")),
  };

  function show(el, html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    if (template.content.querySelector("[data-signed-out]")) return sessionEnded();
    const same = el.id && template.content.querySelector(`#${CSS.escape(el.id)}`);
    if (!same && template.content.querySelector("main")) throw new Error("a full page came instead of the part");
    Idiomorph.morph(el, same || template.content.childNodes, { morphStyle: same ? "outerHTML" : "innerHTML", ignoreActiveValue: Boolean(document.activeElement?.matches("input, textarea, select")), callbacks });
    window.htmx?.process(el);
    detiqTimes.refresh();
    el.dispatchEvent(new CustomEvent("detiq:refreshed", { bubbles: true }));
  }

  function fail(el, s) {
    s.failures += 1;
    const text = `Not updated since ${clock(s.ok)}`;
    let mark = el.querySelector(":scope > .live-mark");
    if (!mark) el.prepend(mark = Object.assign(document.createElement("p"), { className: "live-mark" }));
    if (mark.textContent !== text) mark.textContent = text;
    el.classList.toggle("stale", s.failures >= STALE_AFTER);
    if (s.failures === 1) document.dispatchEvent(new CustomEvent("detiq:say", { detail: text }));
    showState();
  }

  async function refresh(el) {
    const s = stateOf(el);
    if (ended || document.hidden || actions) { s.due = 1; return; }
    if (frozen(el)) return hold(el, s);
    if (s.busy) { s.again = true; return; }
    const url = el.dataset.liveUrl || location.href, began = epoch;
    s.busy = new AbortController();
    s.again = false;
    const limit = setTimeout(() => s.busy.abort(), 30000);
    try {
      const answer = await fetch(url, { headers: { "HX-Request": "true", "HX-Target": el.id, "X-Live": "1" }, signal: s.busy.signal, redirect: "manual", cache: "no-store" });
      if (answer.type === "opaqueredirect" || answer.status === 401 || answer.headers.has("HX-Redirect")) return sessionEnded();
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const html = await answer.text();
      // an action began meanwhile, or the part shows something else now: this answer is old
      if (began !== epoch || !el.isConnected || url !== (el.dataset.liveUrl || location.href) || frozen(el)) { s.again = el.isConnected; return; }
      detiqTimes.sync(answer.headers.get("Date"));
      show(el, html);
      el.querySelector(":scope > .live-mark")?.remove();
      el.classList.remove("stale");
      [s.failures, s.ok] = [0, detiqTimes.now()];
      showState();
    } catch {
      if (el.isConnected && began === epoch) fail(el, s);
    } finally {
      clearTimeout(limit);
      s.busy = null;
      plan(el, s);
      if (s.again || began !== epoch) setTimeout(refresh, HINT_GAP_MS, el);
    }
  }

  function hold(el, s) {
    s.held = (s.held || 0) + 1;
    s.due = performance.now() + 1e9;
    for (const text of document.querySelectorAll("[data-held-changes]")) text.textContent = `Updates frozen, ${s.held} ${s.held === 1 ? "change" : "changes"}`;
  }

  function sessionEnded() {
    if (ended) return;
    ended = true;
    send("stop");
    document.querySelector("[data-session-ended]")?.removeAttribute("hidden");
    document.dispatchEvent(new CustomEvent("detiq:say", { detail: "Your session has ended. Sign in again." }));
    showState();
  }

  function showState() {
    const failing = all().map(stateOf).filter((s) => s.failures);
    const down = ended || failing.length > 0;
    for (const el of document.querySelectorAll("[data-live-state]")) {
      el.dataset.liveState = down ? "down" : stream === "down" ? "polling" : "live";
      el.querySelector("[data-live-word]").textContent = ended ? "Signed out" : down ? `Not live since ${clock(Math.min(...failing.map((s) => s.ok)))}` : stream === "down" ? "Every 10 s" : "Live";
    }
    if (!down) for (const time of document.querySelectorAll("[data-live-time]")) time.textContent = clock(detiqTimes.now());
  }

  const soon = (topics) => all().forEach((el) => {
    const mine = (el.dataset.liveTopics || "").split(" ").filter(Boolean);
    if (!topics.length || !mine.length || mine.some((topic) => topics.includes(topic))) refresh(el);
  });
  document.body.addEventListener("detiq:changed", (event) => soon(event.detail?.topics || []));
  document.addEventListener("detiq:refresh", () => soon([]));
  document.addEventListener("detiq:unfrozen", () => all().forEach((el) => { stateOf(el).held = 0; refresh(el); }));
  document.addEventListener("input", ({ target }) => { if (target.tagName === "SELECT") target.dataset.touched = ""; });
  // what an action shows must not be overwritten by an older answer: those under way are thrown away
  const unsafe = (event) => (event.detail.requestConfig?.verb || "get") !== "get";
  const outdate = () => { epoch += 1; all().forEach((el) => stateOf(el).busy?.abort()); };
  document.addEventListener("htmx:beforeRequest", (event) => { if (unsafe(event)) { actions += 1; outdate(); } });
  document.addEventListener("htmx:afterRequest", (event) => { if (unsafe(event)) { actions = Math.max(0, actions - 1); outdate(); soon([]); } });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.detail.target.closest?.("[data-live]")) outdate(); });

  // the only timer: one look a second at what is due; a hidden tab asks nothing
  let ticks = 0;
  setInterval(() => {
    if (document.hidden || ended) return;
    ticks += 1;
    if (ticks % 20 === 0) send("seen");
    for (const el of all()) {
      const s = stateOf(el);
      if (!s.due) plan(el, s);
      if (performance.now() >= s.due) refresh(el);
    }
  }, 1000);
  document.addEventListener("visibilitychange", () => { send(document.hidden ? "hidden" : "seen"); if (!document.hidden) soon([]); });
  addEventListener("pagehide", () => send("bye"));
  addEventListener("pageshow", (event) => { if (event.persisted) { send("seen"); soon([]); } });
  addEventListener("online", () => soon([]));

  const { liveUrl, liveWorker } = document.body.dataset;
  const listen = (port) => {
    port.onmessage = ({ data }) => {
      if (data.state) { stream = data.state; showState(); }
      if (data.topics) document.body.dispatchEvent(new CustomEvent("detiq:changed", { detail: { topics: data.topics } }));
    };
    send = (type) => port.postMessage({ type, url: liveUrl });
    send(document.hidden ? "hidden" : "seen");
  };
  if (liveUrl && window.SharedWorker) listen(new SharedWorker(liveWorker, { name: "detiq-live" }).port);
  else if (liveUrl) {
    const pair = new MessageChannel();
    const script = Object.assign(document.createElement("script"), { src: liveWorker });
    script.onload = () => { self.onconnect({ ports: [pair.port2] }); listen(pair.port1); };
    document.head.append(script);
  } else stream = "down";
})();
