import { History } from '../book/history.ts';
import type { Host } from '../book/host.ts';
import { Actor } from './actor.ts';
import { Agent } from './agent.ts';
import { Buyer } from './buyer.ts';
import { Caller } from './caller.ts';
import { SimulatedChain } from './chain.ts';
import { Dice } from './dice.ts';
import { type Merchant, openShop, type World } from './open-shop.ts';
import { Outside } from './outside.ts';
import { Owner } from './owner.ts';
import { FEE_PAYER_SEED, NODES } from './settings.ts';
import { Stranger } from './stranger.ts';
import { Tester } from './tester.ts';
import { Wallet } from './wallet.ts';

const SHOPS = 2;
const FEE_PAYER_LAMPORTS = 100_000_000_000n;
const PAUSES_MS = [1_000, 10_000, 60_000, 600_000, 3_600_000];
const NODE_FAULTS = ['null_first', 'http_503', 'http_429', 'rpc_error', 'no_history', 'drop'] as const;

/** Lets time pass, and makes the nodes fail for some calls. */
class Weather extends Actor {
  readonly verbs = [this.pause, this.pause, this.pause, this.spoilNode];

  async pause(): Promise<void> {
    const ms = this.dice.oneOf(PAUSES_MS);
    this.note(`${ms / 1000} seconds pass`);
    await this.host.advance(ms);
  }

  async spoilNode(): Promise<void> {
    const [node, kind, times] = [this.dice.oneOf(this.world.nodes), this.dice.oneOf(NODE_FAULTS), 1 + this.dice.below(3)];
    const method = kind === 'drop' ? { method: 'sendTransaction' } : {};
    this.note(`${node} answers ${times} calls with ${kind}`);
    this.world.chain.fault(node, { kind, times, ...method });
  }
}

const ROLES = [Buyer, Agent, Weather, Tester, Owner, Stranger, Buyer, Agent];

/** Plays one history: shops open, actors act side by side, and every write that has no answer is repeated after the faults. */
export async function play(host: Host, random: () => number, size: { actors: number; steps: number }): Promise<History> {
  const dice = new Dice(random);
  const history = new History(host);
  const world = openWorld(host, history, dice);
  const merchants: Merchant[] = [];
  for (let number = 1; number <= SHOPS; number++) {
    const merchant = await openShop(new Caller(`shop ${number}`, { host, history, dice: dice.fork() }), world);
    if (merchant !== null) merchants.push(merchant);
  }
  if (merchants.length === 0) return history;
  const actors = Array.from({ length: size.actors }, (_, number) => {
    const Role = ROLES[number % ROLES.length]!;
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

function openWorld(host: Host, history: History, dice: Dice): World {
  const chain = new SimulatedChain(() => host.now(), dice.bytes(32));
  for (const node of NODES) host.serve(node, (request) => chain.answer(request));
  chain.fundLamports(new Wallet(FEE_PAYER_SEED).address, FEE_PAYER_LAMPORTS);
  const outside = new Outside(host, history, dice.fork());
  history.landed = (wallet) => chain.landed(wallet);
  history.calm = () => {
    chain.clearFaults(NODES);
    outside.calm();
  };
  return { chain, outside, nodes: NODES };
}
