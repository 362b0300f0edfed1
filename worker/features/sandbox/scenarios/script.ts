import type { Scope } from '#platform/context.ts';
import type { SandboxOptions, SandboxSession } from '#platform/db/tables/sandbox.ts';
import type { EventType } from '#rules/events.ts';
import type { DeliveryTarget, IdentityProvider, RenewalMode } from '#rules/payment-terms.ts';

export interface ScriptStage {
  scope: Scope;
  session: SandboxSession;
  notes: Record<string, string>;
}

/** Outcome of a step. `later`: retried in a moment. `state`: the answer, if no event shows the outcome. */
export type StepResult = { kind: 'done'; state?: string } | { kind: 'later' };
export const done = (state?: string): StepResult => ({ kind: 'done', ...(state === undefined ? {} : { state }) });
export const later: StepResult = { kind: 'later' };

/**
 * Call of a script. A crash may repeat the call, so each is idempotent: by its own idempotency key or by a fixed name of what it creates.
 */
export interface Call {
  action: string;
  run(stage: ScriptStage): Promise<StepResult>;
  until?: EventType[];
}

interface Wait {
  action: 'advance';
  advanceMs(stage: ScriptStage): Promise<number>;
}

export type Step = Call | Wait;

/** Product created for the scenario if the request names none. */
export type ProductDefaults = {
  usage_units: number | null;
  access_period_days: number | null;
  product_type?: IdentityProvider;
  delivery?: DeliveryTarget;
  billing_model?: 'recurring';
  renewal_mode?: RenewalMode;
};

export interface Scenario {
  description: string;
  wares: ProductDefaults;
  options: readonly (keyof Pick<SandboxOptions, 'price' | 'delaySeconds' | 'failure'>)[];
  expected: readonly EventType[];
  script: readonly Step[] | ((options: SandboxOptions) => readonly Step[]);
  /** Event type held back from endpoints until a step of the script releases it. */
  heldBack?: EventType;
}
