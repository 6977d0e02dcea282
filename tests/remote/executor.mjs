// A whole executor: `DETIQ_SECRET=dts_… node executor.mjs 8090`. It counts to config.steps and can be cancelled.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
const sign = (...lines) => createHmac("sha256", process.env.DETIQ_SECRET).update(["detiq-v1", ...lines].join("\n")).digest("hex");
const sha = (body) => createHash("sha256").update(body).digest("hex");
const genuine = (h, body) => Math.abs(Date.now() / 1000 - h["detiq-timestamp"]) < 300 && h["detiq-signature"].split(",").some((given) =>
  timingSafeEqual(createHash("sha256").update(given).digest(), createHash("sha256").update("v1=" +
    sign("request", h["detiq-event"], h["detiq-run"], h["detiq-timestamp"], h["detiq-nonce"], sha(body))).digest()));
const stopped = new Set();
async function tell(job, event, value, tries = 8) {
  const body = JSON.stringify(value), time = String(Math.floor(Date.now() / 1000)), nonce = randomBytes(18).toString("base64url");
  const headers = { "Detiq-Timestamp": time, "Detiq-Nonce": nonce, "Detiq-Signature": "v1=" + sign("callback", event, job.run, time, nonce, sha(body)) };
  const answer = await fetch(job.callbackUrl + event, { method: "POST", body, headers }).catch(() => ({ status: 599 }));
  if (answer.status >= 500 && tries) return new Promise((go) => setTimeout(go, 500)).then(() => tell(job, event, value, tries - 1));
  if (answer.status === 410 || (answer.status === 200 && (await answer.json()).cancel)) stopped.add(job.run);
}
async function work(job, { steps = 3, pause = 50, error } = job.config) {
  for (let step = (job.checkpoint?.done ?? 0) + 1; step <= steps && !stopped.has(job.run); step++) {
    await tell(job, "checkpoint", { checkpoint: { done: step } });
    await tell(job, "progress", { percent: (100 * step) / steps, step: `step ${step} of ${steps}` });
    await new Promise((go) => setTimeout(go, pause));
  }
  await tell(job, "end", stopped.has(job.run) ? { outcome: "cancelled" } : error ? { outcome: "failed", error } : { outcome: "done", result: { counted: steps } });
}
createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()), event = request.headers["detiq-event"];
  if (!request.headers["detiq-signature"] || !genuine(request.headers, body)) return response.writeHead(401).end("bad signature");
  response.writeHead(202).end();
  const job = JSON.parse(body);
  if (event === "cancel") stopped.add(job.run); else work(job);
}).listen(Number(process.argv[2] ?? 0), "127.0.0.1", function () { console.log(this.address().port); });
