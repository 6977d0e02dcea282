// Relative times from the server's clock, never the browser's: the page says what time it was, a monotonic clock counts on.
(() => {
  let [base, mark] = [Date.parse(document.body.dataset.serverNow) || Date.now(), performance.now()];
  const now = () => base + performance.now() - mark;
  const sync = (value) => {
    const server = Date.parse(value);
    if (server && Math.abs(server - now()) > 1500) [base, mark] = [server, performance.now()];
  };
  const length = (seconds) => {
    const s = Math.max(0, Math.floor(seconds));
    if (s < 60) return `${s} s`;
    if (s < 600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
    if (s < 6000) return `${Math.floor(s / 60)} min`;
    return s < 172800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400).toLocaleString("en")} d`;
  };
  const forms = {
    ago: (s) => (s >= 1 ? `${length(s)} ago` : "now"),
    in: (s) => (s <= -1 ? `in ${length(-s)}` : "due"),
    age: (s) => length(s),
    undo: (s) => (s <= -1 ? `, ${length(-s)}` : ""),
  };
  const refresh = () => {
    for (const time of document.querySelectorAll("time[data-rel]")) {
      const text = forms[time.dataset.rel]((now() - Date.parse(time.dateTime)) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  setInterval(() => document.hidden || refresh(), 1000);
  document.addEventListener("visibilitychange", refresh);
  window.detiqTimes = { now, sync, refresh };

  // <button data-zone="UTC"> or data-zone="mine": the choice is a cookie, the server writes the times.
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-zone]");
    if (!button) return;
    const mine = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    const zone = button.dataset.zone === "mine" ? mine : button.dataset.zone;
    document.cookie = `detiq_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
    location.reload();
  });
})();
