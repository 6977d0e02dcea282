// graphile-worker with its defaults: one job claimed for each free slot.
import { makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { THREADS, main, note } from "./common.mjs";

const pgPool = new pg.Pool({ max: THREADS + 2 });
const ADD_JOBS = `SELECT count(*) FROM graphile_worker.add_jobs(
  ARRAY(SELECT r FROM json_populate_recordset(NULL::graphile_worker.job_spec, $1::json) r))`;
let utils;

await main({
  async open() {
    utils = await makeWorkerUtils({ pgPool });
  },
  async setup() {
    await this.open();
    await utils.migrate();
  },
  enqueue: (n) => utils.addJob("noop", { n }),
  enqueueMany: (slots) => pgPool.query(ADD_JOBS, [JSON.stringify(slots.map((n) => ({ identifier: "noop", payload: { n } })))]),
  async work() {
    const taskList = { noop: async ({ n }) => note(n) };
    await run({ pgPool, concurrency: THREADS, noHandleSignals: true, taskList });
  },
});
