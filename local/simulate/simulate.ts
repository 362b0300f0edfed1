import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../bundle.ts';
import { noHostileCounts, REQUESTS_EACH, runHostile } from './hostile/campaign.ts';
import { huntAll } from './planted/hunt.ts';
import { SimulatedService } from './runtime/host.ts';
import { Campaign } from './search/campaign.ts';
import { describeCoverage } from './search/coverage.ts';
import { type Plan, planOf } from './search/plan.ts';
import { describeFinding } from './search/report.ts';
import { runHistory } from './search/run-history.ts';

const USAGE = `npm run simulate -- [--histories N] [--minutes M] [--seed N] [--resume] [--coverage]
  Plays histories, for a minute by default. --resume continues where the last run with it ended.
npm run simulate -- --seed N [--actors N] [--steps N] [--faults none|1,2,3] [--trace]
  Plays one history again.
npm run simulate -- --planted [NAME] [--seed N] [--histories N] [--minutes M]
  Plants each fault of the catalogue, or one, and searches for it, for ten minutes at most.
npm run simulate -- --hostile [N] [--seed N]
  Sends N hostile requests, 200000 by default.
The exit code is 1 if something was found, or a planted fault was not.`;
const STATE_FILE = join(ROOT, '.local/simulate.json');
const PROGRESS_MS = 10_000;
const HOSTILE_REQUESTS = 200_000;

const readFlags = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      histories: { type: 'string' },
      minutes: { type: 'string' },
      actors: { type: 'string' },
      steps: { type: 'string' },
      faults: { type: 'string' },
      trace: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      coverage: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      hostile: { type: 'boolean', default: false },
    },
  });
  return { ...values, argument: positionals[0] };
};

type Flags = ReturnType<typeof readFlags>;

function numberOf(flags: Flags, name: 'seed' | 'histories' | 'minutes' | 'actors' | 'steps'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name}: ${text} is not a number`);
  return value;
}

function planFrom(flags: Flags, seed: number): Plan {
  const plan = planOf(seed);
  const size = { actors: numberOf(flags, 'actors') ?? plan.size.actors, steps: numberOf(flags, 'steps') ?? plan.size.steps };
  if (flags.faults === undefined) return { ...plan, size };
  const only = new Set(flags.faults === 'none' ? [] : flags.faults.split(',').map(Number));
  return { ...plan, size, faults: { ...plan.faults, only } };
}

/** Runs one history, says what was wrong, and shows each step if asked. */
async function replay(service: SimulatedService, plan: Plan, isTraced: boolean): Promise<number> {
  const outcome = await runHistory(service, plan, { isTraced: true });
  if (isTraced) for (const line of outcome.trace) console.log(line);
  const hours = (outcome.passedMs / 3_600_000).toFixed(1);
  if (outcome.findings.length > 0) console.log(describeFinding(outcome).join('\n'));
  else
    console.log([...outcome.log, `nothing found in ${outcome.steps} steps, ${hours} hours and ${outcome.struck.length} faults`].join('\n'));
  console.log(`seed ${plan.seed} hash ${outcome.hash}`);
  return outcome.findings.length > 0 ? 1 : 0;
}

async function search(service: SimulatedService, flags: Flags, seed: number): Promise<number> {
  const minutes = numberOf(flags, 'minutes');
  let shownAt = Date.now();
  const campaign = new Campaign(service, {
    seed,
    histories: numberOf(flags, 'histories') ?? Number.POSITIVE_INFINITY,
    untilMs: minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000,
    stateFile: flags.resume ? STATE_FILE : null,
    onProgress: ({ progress, perSecond }) => {
      if (Date.now() - shownAt < PROGRESS_MS) return;
      shownAt = Date.now();
      const kinds = Object.keys(progress.found).length;
      console.log(
        `${progress.counts.histories} histories, ${perSecond.toFixed(1)} a second, next seed ${progress.nextSeed}, ${kinds} kinds of findings`,
      );
    },
    onFinding: (shortest, found, runs) => {
      console.log(`\nFOUND with seed ${found.plan.seed}, shortened in ${runs} runs to:`);
      console.log(describeFinding(shortest).join('\n'));
    },
  });
  console.log(`from seed ${campaign.progress.nextSeed}`);
  await campaign.run();
  const { counts, found } = campaign.progress;
  console.log(describeCoverage(counts, { showsPairs: flags.coverage }).join('\n'));
  console.log(`${counts.histories} histories, ${counts.steps} steps, ${campaign.perSecond.toFixed(1)} histories a second`);
  for (const [kind, { seeds, histories }] of Object.entries(found))
    console.log(`${histories} histories, seeds ${seeds.join(', ')}: ${kind}`);
  if (Object.keys(found).length === 0) console.log('nothing found');
  return Object.keys(found).length > 0 ? 1 : 0;
}

/** Sends hostile requests, some thousands of each seed. */
async function attack(service: SimulatedService, asked = `${HOSTILE_REQUESTS}`, first = 1): Promise<number> {
  const requests = Number(asked);
  if (!Number.isInteger(requests) || requests < 1) throw new Error(`--hostile: ${asked} is not a number`);
  const counts = noHostileCounts();
  const startedAt = performance.now();
  let found = 0;
  const onFinding = (text: string) => {
    found++;
    console.log(`FOUND ${text}`);
  };
  for (let seed = first; counts.requests < requests; seed++) {
    await runHostile(service, seed, Math.min(REQUESTS_EACH, requests - counts.requests), counts, onFinding);
    const rate = (counts.requests * 1000) / (performance.now() - startedAt);
    console.log(`${counts.requests} requests, ${rate.toFixed(0)} a second, seed ${seed}, ${found} findings`);
  }
  const statuses = Object.entries(counts.statuses).map(([status, times]) => `${times} × ${status}`);
  console.log(`${counts.routes.size} routes, ${counts.succeeded.size} of them succeeded; ${statuses.join(', ')}; ${found} findings`);
  return found > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  const flags = readFlags();
  if (flags.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = numberOf(flags, 'seed');
  const [historiesMax, minutesMax] = [numberOf(flags, 'histories'), numberOf(flags, 'minutes')];
  if (flags.planted) return huntAll(flags.argument, { seed, historiesMax, minutesMax });
  const service = await SimulatedService.load();
  if (flags.hostile) return attack(service, flags.argument, seed);
  if (seed !== undefined && flags.histories === undefined && flags.minutes === undefined) {
    return replay(service, planFrom(flags, seed), flags.trace);
  }
  const isEndless = flags.histories === undefined && flags.minutes === undefined;
  return search(service, isEndless ? { ...flags, minutes: '1' } : flags, seed ?? Date.now() % 1_000_000_000);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exitCode = 2;
}
