// The steps of jobs/bench/peers/base.py, for queues that live in Node. The database is named by PG* variables.
import fs from "node:fs";

export const THREADS = 8;
const WARM_UP = 5;
const LONGEST_MS = 60_000;
const IDLE_MS = 30;

const [verb, , notes, countText] = process.argv.slice(2);
const count = Number(countText);
const file = fs.openSync(notes, "r+");
const slot = Buffer.alloc(8);

// When a handler started: the machine's monotonic clock, in nanoseconds, as Python's time.monotonic_ns().
export function note(n) {
  const at = Buffer.alloc(8);
  at.writeBigInt64LE(process.hrtime.bigint());
  fs.writeSync(file, at, 0, 8, n * 8);
}

function startedAt(n) {
  fs.readSync(file, slot, 0, 8, n * 8);
  return slot.readBigInt64LE();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function pickup(peer) {
  const found = [];
  for (let n = 0; n < count + WARM_UP; n++) {
    await peer.enqueue(n);
    const committed = process.hrtime.bigint();
    while (startedAt(n) === 0n) {
      if (process.hrtime.bigint() - committed > BigInt(LONGEST_MS) * 1_000_000n) throw new Error("not picked up in time");
      await pause(1);
    }
    found.push(Math.max(0, Number(startedAt(n) - committed) / 1e6));
    await pause(IDLE_MS);
  }
  return found.slice(WARM_UP);
}

async function seconds(step) {
  const began = process.hrtime.bigint();
  await step();
  return Number(process.hrtime.bigint() - began) / 1e9;
}

function endWithParent() {
  const fd = Number(process.env.DETIQ_PARENT_FD);
  if (fd) fs.read(fd, Buffer.alloc(1), 0, 1, null, () => process.exit(70));
}

export async function main(peer) {
  endWithParent();
  let said = null;
  const slots = Array.from({ length: count }, (_, n) => n);
  if (verb === "setup") await peer.setup();
  else await peer.open?.();
  if (verb === "single") said = await seconds(async () => { for (const n of slots) await peer.enqueue(n); });
  if (verb === "bulk") said = await seconds(() => peer.enqueueMany(slots));
  if (verb === "pickup") said = await pickup(peer);
  if (verb === "work") {
    process.on("SIGTERM", () => process.exit(0));
    await peer.work();
    fs.writeSync(Number(process.env.DETIQ_READY_FD), "ready\n");
    return;
  }
  fs.writeSync(1, JSON.stringify(said) + "\n");
  process.exit(0);
}
