import { SimulatedService } from '../runtime/host.ts';
import { planOf } from '../search/plan.ts';
import { kindOf, runHistory } from '../search/run-history.ts';
import { PLANTED_FAULTS } from './catalogue.ts';
import type { PlantedFault } from './planted-fault.ts';

const FIRST_SEED = 1_000;
const MINUTES_MAX = 10;

export interface Hunt {
  /** First finding that shows the fault. Null: none within the limits. */
  found: string | null;
  seed: number;
  histories: number;
  seconds: number;
  /** Kinds of other findings on the way. */
  others: string[];
}

interface Limits {
  seed?: number | undefined;
  historiesMax?: number | undefined;
  minutesMax?: number | undefined;
}

/** Runs histories of a service with a planted fault until one shows the fault. */
export async function hunt({ mutations, roles, finding }: PlantedFault, limits: Limits = {}): Promise<Hunt> {
  const { seed: first = FIRST_SEED, historiesMax = Number.POSITIVE_INFINITY, minutesMax = MINUTES_MAX } = limits;
  const service = await SimulatedService.load(mutations);
  const startedAt = performance.now();
  const others = new Set<string>();
  for (let seed = first; ; seed++) {
    const { findings } = await runHistory(service, { ...planOf(seed), ...(roles ? { roles } : {}) });
    const found = findings.find((sentence) => finding.test(sentence)) ?? null;
    const [histories, seconds] = [seed - first + 1, (performance.now() - startedAt) / 1000];
    if (found === null) for (const other of findings) others.add(kindOf(other));
    if (found !== null || histories >= historiesMax || seconds >= minutesMax * 60)
      return { found, seed, histories, seconds, others: [...others] };
  }
}

/** Hunts one planted fault, or all. Returns 1 if one of them was not found. */
export async function huntAll(name: string | undefined, limits: Limits): Promise<number> {
  const chosen = PLANTED_FAULTS.filter((fault) => name === undefined || fault.name === name);
  if (chosen.length === 0) throw new Error(`--planted: ${name} is none of ${PLANTED_FAULTS.map((fault) => fault.name).join(', ')}`);
  let missed = 0;
  for (const fault of chosen) {
    console.log(`${fault.name}: ${fault.breaks}`);
    const { found, seed, histories, seconds, others } = await hunt(fault, limits);
    if (found === null) missed++;
    const effort = `${histories} histories, ${seconds.toFixed(1)} seconds`;
    console.log(found === null ? `  NOT FOUND in ${effort}` : `  found in ${effort}, seed ${seed}: ${found.split('\n')[0]!.slice(0, 200)}`);
    for (const other of others) console.log(`  other finding: ${other}`);
  }
  console.log(`${chosen.length - missed} of ${chosen.length} planted faults found`);
  return missed > 0 ? 1 : 0;
}
