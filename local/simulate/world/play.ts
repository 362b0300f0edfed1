import { History } from '../book/history.ts';
import type { Host } from '../book/host.ts';
import type { Actor } from './actors/actor.ts';
import { Agent } from './actors/agent.ts';
import { Buyer } from './actors/buyer.ts';
import { Caller } from './actors/caller.ts';
import { Forger } from './actors/forger.ts';
import { type Merchant, openShop, type World } from './actors/open-shop.ts';
import { Owner } from './actors/owner.ts';
import { Stranger } from './actors/stranger.ts';
import { Streamer } from './actors/streamer.ts';
import { Subscriber } from './actors/subscriber.ts';
import { Tester } from './actors/tester.ts';
import { Weather } from './actors/weather.ts';
import { Administrator } from './merchants/administrator.ts';
import { Cashier } from './merchants/cashier.ts';
import { SimulatedChain } from './outside/chain.ts';
import { Dice } from './outside/dice.ts';
import { NODES } from './outside/hosts.ts';
import { Outside } from './outside/outside.ts';
import { Wallet } from './outside/wallet.ts';
import { CHANNEL_SEED, FEE_PAYER_SEED, LATE_GRACE_SECONDS, PULLER_SEED, TREASURY } from './settings.ts';

const SHOPS = 2;
/** Part of the histories in which days pass, and how many at most. Each costs as much as twenty histories. */
const LONG = 0.02;
const DAYS = 2;
const FEE_PAYER_LAMPORTS = 100_000_000_000n;

export type Role = new (...given: ConstructorParameters<typeof Actor>) => Actor;

export const ROLES: readonly Role[] = [
  Buyer,
  Agent,
  Weather,
  Tester,
  Owner,
  Stranger,
  Buyer,
  Agent,
  Streamer,
  Subscriber,
  Cashier,
  Administrator,
  Forger,
];

/** Plays one history: shops open, actors act side by side, and every write that has no answer is repeated after the faults. */
export async function play(
  host: Host,
  random: () => number,
  size: { actors: number; steps: number },
  roles: readonly Role[] = ROLES,
): Promise<History> {
  const dice = new Dice(random);
  const history = new History(host, { lateGraceMs: LATE_GRACE_SECONDS * 1000, treasury: TREASURY });
  const world = openWorld(host, history, dice);
  const merchants: Merchant[] = [];
  for (let number = 1; number <= SHOPS; number++) {
    const merchant = await openShop(new Caller(`shop ${number}`, { host, history, dice: dice.fork() }), world);
    if (merchant !== null) merchants.push(merchant);
  }
  if (merchants.length === 0) return history;
  const actors = Array.from({ length: size.actors }, (_, number) => {
    const Role = dice.oneOf(roles);
    return new Role(`${Role.name.toLowerCase()} ${number + 1}`, { host, history, dice: dice.fork() }, world, merchants);
  });
  await Promise.all(
    actors.map(async (actor, number) => {
      const steps = Math.floor(size.steps / size.actors) + (number < size.steps % size.actors ? 1 : 0);
      for (let step = 0; step < steps; step++) await actor.step();
    }),
  );
  return history;
}

export function openWorld(host: Host, history: History, dice: Dice): World {
  const chain = new SimulatedChain(() => host.now(), dice.bytes(32));
  for (const node of NODES) host.serve(node, (request) => chain.answer(request));
  for (const seed of [FEE_PAYER_SEED, CHANNEL_SEED, PULLER_SEED]) chain.fundLamports(new Wallet(seed).address, FEE_PAYER_LAMPORTS);
  // A channel pays its operator first, so the operator needs an account.
  chain.fundUsdc(new Wallet(CHANNEL_SEED).address, 0n);
  // The payment of a plan creates no account.
  chain.fundUsdc(TREASURY, 1n);
  const outside = new Outside(host, history, dice.fork());
  history.landed = (wallet) => chain.landed(wallet);
  history.names = (account, signature) => chain.names(account, signature);
  history.moved = (account, owner) => chain.moved(account, owner);
  history.calm = () => {
    chain.clearFaults(NODES);
    history.areNodesSpoiled = false;
    outside.calm();
  };
  return { chain, outside, nodes: NODES, daysLeft: dice.chance(LONG) ? DAYS : 0 };
}
