// pg-boss, polling twice a second as it does at most, eight workers of one job each.
import PgBoss from "pg-boss";
import { THREADS, main, note } from "./common.mjs";

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
      await boss.work("noop", { batchSize: 1, pollingIntervalSeconds: 0.5 }, async ([job]) => note(job.data.n));
  },
});
