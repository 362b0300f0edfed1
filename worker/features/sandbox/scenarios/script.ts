import type { Scope } from '#platform/context.ts';
import type { SandboxOptions, SandboxSession } from '#platform/db/tables/sandbox.ts';
import type { EventType } from '#rules/events.ts';
import type { DeliveryPlace, IdentityProvider, RenewalMode } from '#rules/payment-terms.ts';

/** Where a step of a script stands: the session's rows on its own chain and clock. */
export interface ScriptStage {
  scope: Scope;
  session: SandboxSession;
  /** What earlier steps left for later ones; stored with the step. */
  notes: Record<string, string>;
}

/** What a step came to. `later`: it is looked at again in a moment. `state`: what was answered, where no event tells of it. */
export type StepResult = { kind: 'done'; state?: string } | { kind: 'later' };
export const done = (state?: string): StepResult => ({ kind: 'done', ...(state === undefined ? {} : { state }) });
export const later: StepResult = { kind: 'later' };

/**
 * One call of a script. It may be made again after a crash, so it is harmless twice: under a key of its own, or because what it makes
 * has a name of its own.
 */
export interface Call {
  action: string;
  run(stage: ScriptStage): Promise<StepResult>;
  /** It is over once these were recorded since it was first made. */
  until?: EventType[];
}

/** Moves the clock by so many milliseconds, through all that falls due on the way. */
interface Wait {
  action: 'advance';
  advanceMs(stage: ScriptStage): Promise<number>;
}

export type Step = Call | Wait;

/** What a scenario makes for itself where no product is named. */
export type Wares = {
  usage_units: number | null;
  access_period_days: number | null;
  product_type?: IdentityProvider;
  delivery?: DeliveryPlace;
  billing_model?: 'recurring';
  renewal_mode?: RenewalMode;
};

/** One row of the table of scenarios. */
export interface Scenario {
  description: string;
  wares: Wares;
  /** Which of the options it takes. */
  options: readonly (keyof Pick<SandboxOptions, 'price' | 'delaySeconds' | 'failure'>)[];
  /** Types of its events, in the order in which they are recorded. */
  expected: readonly EventType[];
  /** Some scenarios go another way where an option says so. */
  script: readonly Step[] | ((options: SandboxOptions) => readonly Step[]);
  /** Events that its endpoints are told of only by a step of the script. */
  heldBack?: EventType;
}
