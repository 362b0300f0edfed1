import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Refusal } from '../cli/options.ts';
import { childrenOf } from '../cli/processes.ts';
import { endOnSignals } from '../cli/signals.ts';
import { Teardown } from '../cli/teardown.ts';
import { isMet, judgeAims, otherRatios } from './aims.ts';
import { writeBill } from './bill/write.ts';
import { changesSince, changesText, readEarlier } from './compare.ts';
import { type CostMeasured, measureCost } from './journeys/costs.ts';
import { measureJourney } from './journeys/journeys.ts';
import { measureWithLive } from './journeys/with-live.ts';
import { describeMachine } from './load/machine.ts';
import { type Measured, measureAll, typical } from './load/measure.ts';
import { endProcess, type Server } from './load/processes.ts';
import { type Row, setUp } from './load/rows.ts';
import { type BenchOptions, readBenchOptions } from './options.ts';
import { pricesOf } from './prices.ts';
import { aimsText, costsText, journeysText, limitsText, pricesText, tableOf } from './report.ts';
import { INSTALL_HINT, type Postgres, startPostgres } from './services/postgres.ts';
import { startBenchService } from './services/whole-service.ts';
import { startWorkerd } from './services/workerd.ts';

/** `npm run bench`: cost of a consume, layer by layer, compared with a self-built alternative. Not a test: goals may be missed. */
const PEER = join(import.meta.dirname, 'services/peer.ts');
const INTERRUPTED = 130;

async function startPeer(postgres: Postgres, teardown: Teardown): Promise<Server> {
  const child = fork(PEER, [postgres.host], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  teardown.defer(() => endProcess(child));
  const pids = () => [child.pid!, postgres.pid, ...childrenOf(postgres.pid)];
  return new Promise((resolve, reject) => {
    child.once('message', ({ port }: { port: number }) => resolve({ port, pids }));
    child.once('exit', (code) => reject(new Error(`the peer ended before it listened (${code})`)));
  });
}

async function bench(options: BenchOptions, teardown: Teardown): Promise<void> {
  const earlier = options.compare === null ? null : readEarlier(options.compare);
  const startedAt = performance.now();
  const say = (line: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
  const machine = describeMachine(stateDir);
  say(`${machine.cores} cores (${machine.cpu}), load ${machine.loadBefore}, fdatasync ${machine.fdatasyncMs} ms`);

  const { costs, journeys } = await measureService(options, stateDir, say);
  const { measured, postgres, skipped } = await measureRows(options, stateDir, teardown, say);
  const aims = judgeAims([...measured, ...journeys]);
  const others = otherRatios(measured);
  const prices = pricesOf(measured);
  if (costs.length > 0) console.log(`\n${costsText(costs)}`);
  if (journeys.length > 0) console.log(`\n${journeysText(journeys)}`);
  if (measured.length > 0) console.log(`\n${tableOf(measured, options.clients)}`);
  if (aims.some(({ ratio }) => ratio !== null)) console.log(`\n${aimsText(aims, others)}`);
  if (measured.length > 0) console.log(['', pricesText(prices), limitsText(), ''].join('\n\n').trimEnd());
  if (earlier) console.log(`\n${changesText(changesSince(earlier, [...measured, ...journeys]))}`);
  const { rows: _, costs: __, journeys: ___, withLive: ____, out, ...how } = options;
  const rows = [...measured, ...journeys].map(asJson);
  const outcome = { at: new Date().toISOString(), machine, postgres, how, rows, skipped, others, prices, costs: costs.map(costAsJson) };
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify({ ...outcome, aims: aims.map((aim) => ({ ...aim, isMet: isMet(aim) })) }, null, 2)}\n`);
  console.log(`\n${out}`);
}

interface ServiceMeasured {
  costs: CostMeasured[];
  journeys: Measured[];
}

/** Separate teardown, so that the complete service and its chain do not run during the other measurements. */
async function measureService(options: BenchOptions, stateDir: string, say: (line: string) => void): Promise<ServiceMeasured> {
  const { costs, journeys, rounds, repeats, withLive } = options;
  const own = new Teardown();
  teardown.defer(() => own.run());
  const needsService = withLive || journeys.length > 0 || costs.some(({ request }) => request);
  if (needsService) say('starting the whole service, for what one request costs at its worst');
  const service = needsService ? await startBenchService(stateDir, own) : null;
  const measured: ServiceMeasured = { costs: [], journeys: [] };
  for (const cost of costs) measured.costs.push(await measureCost(cost, service, repeats));
  for (const journey of journeys) {
    measured.journeys.push(await measureJourney(journey, service!, { rounds, repeats, teardown: own }));
    say(journey.name);
  }
  if (withLive) {
    say('a live consume alone, and during sandbox sessions');
    measured.journeys.push(...(await measureWithLive(service!, options)));
  }
  await own.run();
  return measured;
}

type Rows = { measured: Measured[]; postgres: Postgres | null; skipped: readonly Row[] };
async function measureRows(options: BenchOptions, stateDir: string, teardown: Teardown, say: (line: string) => void): Promise<Rows> {
  if (options.rows.length === 0) return { measured: [], postgres: null, skipped: [] };
  say('bundling the service as it would be deployed, and starting it on workerd serve');
  const targets: Parameters<typeof measureAll>[1] = { workerd: await setUp(await startWorkerd({ stateDir, teardown })) };
  const postgres = options.rows.some(({ target }) => target === 'peer') ? await startPostgres(teardown) : null;
  const skipped = postgres ? [] : options.rows.filter(({ target }) => target === 'peer');
  if (postgres) {
    targets.peer = await setUp(await startPeer(postgres, teardown));
    const settings = Object.entries(postgres.settings).map(([name, value]) => `${name}=${value}`);
    say(`started PostgreSQL ${postgres.version} and the peer: ${settings.join(' ')}`);
  }
  for (const { name } of skipped) say(`skipped "${name.trim()}": no PostgreSQL here; to compare: ${INSTALL_HINT}`);

  return { measured: await measureAll(options, targets, say), postgres, skipped };
}

const costAsJson = ({ cost: { id, name, aimMs }, cpuMs }: CostMeasured) => ({ id, name, aimMs, cpuMs });

const asJson = (measured: Measured) => ({
  id: measured.row.id,
  name: measured.row.name.trim(),
  clients: measured.clients,
  ...typical(measured),
  unitsPerSecond: typical(measured).perSecond * measured.row.units,
  samples: measured.samples,
});

const teardown = new Teardown();
endOnSignals(teardown, INTERRUPTED);
try {
  const args = process.argv.slice(2);
  if (args.length === 1 && args[0] === '--bill') process.exitCode = writeBill();
  else await bench(readBenchOptions(args), teardown);
} catch (error) {
  if (!teardown.hasBegun) console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
} finally {
  await teardown.run();
}
