// pg-boss, polling twice a second, as often as it can: each worker waits so long between two fetches, so it must claim
// many at once to get anywhere.
import PgBoss from "pg-boss";
import { THREADS, main, note } from "./common.mjs";

const BATCH = 500;
const boss = new PgBoss({ host: process.env.PGHOST, port: Number(process.env.PGPORT || 5432), user: process.env.PGUSER,
  password: process.env.PGPASSWORD, database: process.env.PGDATABASE, supervise: false, schedule: false });
boss.on("error", (error) => console.error(error));

await main({
  open: () => boss.start(),
  async setup() {
    await boss.start();
    await boss.createQueue("noop");
  },
  enqueue: (n) => boss.send("noop", { n }),
  enqueueMany: (slots) => boss.insert(slots.map((n) => ({ name: "noop", data: { n } }))),
  async work() {
    for (let i = 0; i < THREADS; i++)
      await boss.work("noop", { batchSize: BATCH, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        for (const job of jobs) note(job.data.n);
      });
  },
});
