import { assert } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Config, Ctx, Scope, Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Chain } from '#solana/chain.ts';
import { findClock, type SandboxClock } from './clock.store.ts';
import { simulatedConfig } from './simulated-config.ts';

/** Whose rows, in which mode, and of which session where a customer of a session is meant. */
export interface ScopeOwner {
  merchantId: AccountId;
  livemode: boolean;
  customerRef?: string | null;
}

/** The rows of a merchant in one mode, wherever they are. */
export const scopeOf = async (ctx: Ctx, owner: ScopeOwner): Promise<Scope> => inMode(await homeOf(ctx, owner.merchantId), owner);

/**
 * The chain, the configuration and the clock that a row goes by. A live row is read over the real chain; a sandbox one over that of its
 * merchant's sandbox, and by the clock of the session whose customer it names. What is in a sandbox already stays there.
 */
export async function inMode(shard: Shard, { merchantId, livemode, customerRef = null }: ScopeOwner): Promise<Scope> {
  if (livemode) {
    assert(shard.sandbox === null, 'no live row is reached from a sandbox');
    return { ...shard, merchantId, livemode };
  }
  if (shard.sandbox !== null && shard.sandbox.sessionId !== null) return { ...shard, merchantId, livemode };
  const clock = customerRef === null ? null : await findClock(shard.db, merchantId, customerRef);
  return inSandbox(shard, merchantId, clock);
}

/** What the events of a session go back to; by it they are found. */
export const causeOf = (sessionId: string): string => `sandbox_${sessionId}`;

/** One merchant's sandbox, or one session of it. */
export function inSandbox(shard: Shard, merchantId: AccountId, clock: SandboxClock | null): Scope {
  const now = clock?.now ?? shard.now;
  const sandbox = { merchantId, sessionId: clock?.sessionId ?? null, endpointId: clock?.endpointId ?? null };
  return {
    ...shard,
    ...(clock ? { now, cause: causeOf(clock.sessionId) } : {}),
    merchantId,
    livemode: false,
    sandbox,
    config: simulatedConfigOf(shard.config),
    chain: simulatedChain(shard, { ...sandbox, now }),
  };
}

/** The network that the chain of a row presents itself as. */
export const networkOf = ({ config }: Ctx, { livemode }: Pick<ScopeOwner, 'livemode'>): Config['network'] =>
  (livemode ? config : simulatedConfigOf(config)).network;

const simulatedConfigs = new WeakMap<Config, Config>();

function simulatedConfigOf(config: Config): Config {
  const known = simulatedConfigs.get(config) ?? simulatedConfig(config);
  simulatedConfigs.set(config, known);
  simulatedConfigs.set(known, known);
  return known;
}

/** Loaded with the first call, because most invocations never need it. */
function simulatedChain({ db }: Shard, at: { merchantId: AccountId; sessionId: string | null; now: number }): Chain {
  const load = async () => new (await import('./simulated-chain.ts')).SimulatedChain(db, at);
  const chain: Chain = new Proxy({} as Chain, {
    get: (_, name: keyof Chain | 'then') => {
      if (name === 'then') return undefined;
      if (name === 'place') return `sandbox:${at.merchantId}`;
      if (name === 'within') return () => chain;
      return async (...args: unknown[]) => ((await load()) as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!(...args);
    },
  });
  return chain;
}
