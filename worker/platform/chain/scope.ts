import { assert } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Config, Ctx, Scope, Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Chain } from '#solana/chain.ts';
import { findClock, type SandboxClock } from './clock.store.ts';
import { simulatedConfig } from './simulated-config.ts';

export interface ScopeOwner {
  merchantId: AccountId;
  livemode: boolean;
  customerRef?: string | null;
}

export const loadScope = async (ctx: Ctx, owner: ScopeOwner): Promise<Scope> => inMode(homeOf(ctx, owner.merchantId), owner);

/**
 * Returns chain, configuration and clock of a row: the real chain for live rows, else the merchant's simulated chain and the clock of the
 * session that the customer names. A shard that is already a sandbox scope stays in that sandbox.
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

/** Request id of all events that a session causes. */
export const causeOf = (sessionId: string): string => `sandbox_${sessionId}`;

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

export const networkOf = ({ config }: Ctx, { livemode }: Pick<ScopeOwner, 'livemode'>): Config['network'] =>
  (livemode ? config : simulatedConfigOf(config)).network;

const simulatedConfigs = new WeakMap<Config, Config>();

function simulatedConfigOf(config: Config): Config {
  const known = simulatedConfigs.get(config) ?? simulatedConfig(config);
  simulatedConfigs.set(config, known);
  simulatedConfigs.set(known, known);
  return known;
}

/** Loaded on first use, because most invocations never need a simulated chain. */
function simulatedChain({ db }: Shard, at: { merchantId: AccountId; sessionId: string | null; now: number }): Chain {
  const load = async () => new (await import('./simulated-chain.ts')).SimulatedChain(db, at);
  const chain: Chain = new Proxy({} as Chain, {
    get: (_, name: keyof Chain | 'then') => {
      if (name === 'then') return undefined;
      if (name === 'cachePrefix') return `sandbox:${at.merchantId}`;
      if (name === 'within') return () => chain;
      return async (...args: unknown[]) => ((await load()) as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!(...args);
    },
  });
  return chain;
}
