// One stream for all tabs of this browser. A tab says "seen" while it is visible; with no visible tab the stream is closed.
// live.js loads this file as a SharedWorker, or as a plain script where there is none.
(() => {
  const SEEN_MS = 60000;
  const DOWN_AFTER = 3;
  const ports = new Map(); // port -> when it was last seen, 0 if hidden
  let source = null, timer = 0, failures = 0;

  const tell = (message) => ports.forEach((_, port) => port.postMessage(message));
  const wanted = () => [...ports.values()].some((seen) => Date.now() - seen < SEEN_MS);
  const state = () => (source && source.readyState === 1 ? "live" : failures >= DOWN_AFTER ? "down" : "connecting");

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
    timer = 0;
  }

  function open(url) {
    if (source || timer || !wanted()) return;
    source = new EventSource(url);
    source.onopen = () => { failures = 0; tell({ state: "live" }); };
    source.addEventListener("changed", (event) => {
      let topics = [];
      try { topics = JSON.parse(event.data).topics || []; } catch { /* a hint without topics concerns everything */ }
      tell({ topics });
    });
    source.onerror = () => {
      close();
      failures += 1;
      tell({ state: state() });
      const wait = Math.min(60000, 1000 * 2 ** failures) * (0.5 + Math.random() / 2);
      timer = setTimeout(() => { timer = 0; open(url); }, wait);
    };
  }

  self.onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data: { type, url } }) => {
      if (type === "bye") ports.delete(port);
      else ports.set(port, type === "seen" ? Date.now() : 0);
      if (type === "stop" || !wanted()) close();
      else open(url);
      if (type === "seen") port.postMessage({ state: state() });
    };
    port.start?.();
  };
  setInterval(() => wanted() || close(), SEEN_MS);
})();
