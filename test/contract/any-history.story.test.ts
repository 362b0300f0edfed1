// @module-tag volume
import { afterEach, describe, expect, it } from 'vitest';
import { CHANNEL_KEYS, fundChannels } from '../support/chain/live-channel.ts';
import { seededRandom, shuffled, withFaults } from '../support/faults/faults.ts';
import { FIRST_CHECK, SECOND_PROOF } from '../support/faults/finality.ts';
import { AnyService } from '../support/models/any-service.ts';
import { expectTruth } from '../support/models/reference-model.ts';
import { AnyLife, BOUGHT, lostOnTheWay } from '../support/models/subscription-model.ts';
import { openTreasury } from '../support/people/activation.ts';
import { Agent, sellToAgents, stall, withObjectFaults } from '../support/people/agent.ts';
import { endSkips, skipTime } from '../support/runner/clock.ts';
import { SEED, SOAK, testEnv } from '../support/runner/env.ts';
import { World } from '../support/world.ts';

const random = seededRandom(SEED);
const dice = (below: number) => Math.floor(random() * below);
const oneOf = <T>(choices: readonly T[]): T => choices[dice(choices.length)]!;

/** Customers with concurrent histories, so that their calls and the sweeps interleave. */
const SIDE_BY_SIDE = 4;
const ROUNDS = 10;
const RUN_MS = 18_000;
const isSoak = SOAK > 1;
const SOAK_HISTORIES = 1000 * SOAK;

/** Delivers from a queue that loses, doubles and reorders messages, while database and objects fail at times. */
async function deliverSome(w: World): Promise<void> {
  const held = shuffled(w.queue.sent.splice(0), random).map(({ job }) => job);
  const brought = held.filter(() => dice(3) > 0);
  await w.deliver([...brought, ...brought.filter(() => dice(4) === 0)], cut(w)).catch(lostOnTheWay);
}

function cut(w: World) {
  if (dice(2) === 0) return w.env;
  const at = 1 + dice(40);
  const faults = { [dice(2) === 0 ? 'before' : 'after']: ({ number }: { number: number }) => number === at };
  return dice(2) === 0 ? withFaults(w.env, faults).env : withObjectFaults(w.env, faults).env;
}

const NODE_FAULTS = ['null_first', 'http_503', 'http_429', 'rpc_error', 'no_history'];
const ASKED = ['getTransaction', 'getSignatureStatuses', 'getSignaturesForAddress'];

/** Advances the time and runs the due sweeps over failing connections. */
async function letSweepsRun(w: World): Promise<void> {
  for (const seconds of oneOf([[10], [FIRST_CHECK], [FIRST_CHECK, SECOND_PROOF], [FIRST_CHECK, SECOND_PROOF], [601]])) {
    await skipTime(w.chain, seconds);
    await w.sweep(cut(w)).catch(lostOnTheWay);
  }
}

async function calmDown(w: World, lives: AnyLife[], service: AnyService): Promise<void> {
  await w.chain.call('local_clearFaults');
  await service.close();
  for (const seconds of [FIRST_CHECK, SECOND_PROOF, FIRST_CHECK, 601, 601, 3601, 3601, 86_401]) {
    await skipTime(w.chain, seconds);
    await w.sweep();
    await w.deliver();
    for (const life of lives) await life.ring();
    await service.ring();
    await w.deliver();
  }
}

async function forgetAll(): Promise<void> {
  endSkips();
  const sql =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB '*_words*' AND name NOT IN ('d1_migrations', 'sqlite_sequence')";
  const { results } = await testEnv.DB.prepare(sql).all<{ name: string }>();
  await testEnv.DB.batch(results.map(({ name }) => testEnv.DB.prepare(`DELETE FROM ${name}`)));
}

async function runHistories(): Promise<void> {
  await forgetAll();
  const w = new World({ CHANNEL_KEYS });
  await openTreasury(w);
  await fundChannels(w);
  const merchant = await w.merchant();
  // Buyers use a node of their own, without the faults of the service's node.
  const node = w.chain.node('buyers');
  const spender = new Agent(await node.wallet(100_000_000_000n), node.url);
  spender.client.setSpendControls({ maxAmountPerPayment: '$199' });
  const product = await sellToAgents(w, merchant, { usage_units: BOUGHT.units, access_period_days: BOUGHT.days });
  const lives: AnyLife[] = [];
  for (let i = 0; i < SIDE_BY_SIDE; i++) {
    const people = {
      shop: stall(w, merchant, product, new Agent(await node.wallet(), node.url)),
      node,
      account: await w.merchant('free'),
      spender,
    };
    const life = new AnyLife(w, people, dice);
    await life.ring();
    lives.push(life);
  }
  const service = await AnyService.open(w, merchant, lives, dice);
  for (let round = 0; round < ROUNDS; round++) {
    if (dice(3) === 0) await w.chain.fault({ kind: oneOf(NODE_FAULTS), method: oneOf(ASKED), times: 1 + dice(3) });
    if (dice(4) === 0) await w.chain.fault({ kind: 'fail_after_broadcast', method: 'sendTransaction' });
    await Promise.all(lives.map((life) => life.step()));
    if (dice(2) === 0) await service.step();
    if (dice(3) === 0) for (const life of lives) await life.ring();
    await deliverSome(w);
    if (dice(2) === 0) await letSweepsRun(w);
    for (const life of lives) await life.observe();
  }
  await calmDown(w, lives, service);
  for (const life of lives) await expectTruth(w, life);
  await service.expectTruth();
}

afterEach(endSkips);

describe('random histories of checkouts, x402 payments, plans, grants, uses, refunds, drops and reinstatements', () => {
  it(
    `each payment is credited once and every answer matches the chain, with faults between any steps (seed ${SEED})`,
    async () => {
      const began = performance.now();
      let histories = 0;
      while (isSoak ? histories < SOAK_HISTORIES : performance.now() - began < RUN_MS) {
        await runHistories();
        histories += SIDE_BY_SIDE;
      }
      expect(histories).toBeGreaterThan(0);
      // The last histories may start shortly before the time limit.
    },
    isSoak ? 100 * RUN_MS * SOAK : 4 * RUN_MS,
  );
});
