import { FAULTS, type FaultPlan, NO_FAULTS } from '../runtime/faults.ts';
import { Random } from '../runtime/random.ts';
import type { Role } from '../world/play.ts';
import { aimOf } from './targets.ts';

export interface Size {
  actors: number;
  steps: number;
}

/** All that a history depends on. The same plan is the same history. */
export interface Plan {
  seed: number;
  size: Size;
  faults: FaultPlan;
  /** Roles that the actors are drawn from. Absent: all. */
  roles?: readonly Role[];
}

const ACTORS_MAX = 8;
const STEPS = { min: 20, max: 60 };
/** Part of the histories that suffer nothing: in those every refusal has to be explained by what was asked. */
const CALM = 0.2;
const RATES = [0.003, 0.01, 0.03, 0.08] as const;

/** Each seed suffers a choice of faults of its own: many of one kind find what a few of each do not. */
export function planOf(seed: number): Plan {
  const random = new Random(seed, 'plan');
  const size = { actors: 1 + random.below(ACTORS_MAX), steps: STEPS.min + random.below(STEPS.max - STEPS.min + 1) };
  if (random.chance(CALM)) return { seed, size, faults: NO_FAULTS };
  // Every other seed aims a fault at a verb, in addition to what strikes at random.
  const aim = seed % 2 === 1 ? { aim: aimOf((seed - 1) / 2) } : {};
  const kinds = FAULTS.filter(() => random.chance(0.4));
  return { seed, size, faults: { kinds: kinds.length > 0 ? kinds : [random.pick(FAULTS)], rate: random.pick(RATES), ...aim } };
}

/** Command that runs the history again. */
export function commandOf({ seed, size, faults: { only } }: Plan): string {
  const faults = only === undefined ? '' : ` --faults ${[...only].join() || 'none'}`;
  return `npm run simulate -- --seed ${seed} --actors ${size.actors} --steps ${size.steps}${faults} --trace`;
}
