import { base58, base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { raise } from '#core/errors.ts';
import type { MeteredSessionId } from '#core/ids.ts';
import { authorizeSession } from '#features/metered/buyer/authorize.ts';
import { commitDelivery } from '#features/metered/buyer/commit.ts';
import { newSessionChallenge } from '#features/metered/challenge.ts';
import { planMeteredSession } from '#features/metered/create.ts';
import { announceDelivery } from '#features/metered/deliver.ts';
import { readSession } from '#features/metered/session.ts';
import { getSale } from '#features/products/product.ts';
import { commit } from '#platform/db/commit.ts';
import type { SignedVoucher } from '#protocols/mpp/session.ts';
import type { EventType } from '#rules/events.ts';
import { METERED_RAIL } from '#rules/rails.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { type TestWallet, testWallet } from '../wallet.ts';
import { answerOf, customerIn } from './actions.ts';
import { done, type ScriptStage, type Step } from './script.ts';

const CAP = { asset: 'USDC' as const, amount: '1' };
const [DEPOSIT, TOPPED_UP] = ['500000', '1000000'];
/** What one use costs here, in base units. */
const USE = 10_000n;
const NEVER = 4_102_444_800;

/** The buyer's key that signs vouchers, and the address of a channel that stands nowhere. */
const sessionKey = ({ scope }: ScriptStage): TestWallet => testWallet(scope, 'vouchers');
const channelOf = ({ scope }: ScriptStage): string => testWallet(scope, 'channel').address;

function voucherOf(stage: ScriptStage, cumulative: bigint): SignedVoucher {
  const channelId = channelOf(stage);
  const said = {
    channelId: channelId as Parameters<typeof encodeVoucher>[1]['channelId'],
    cumulativeAmount: cumulative,
    expiresAt: BigInt(NEVER),
  };
  const signature = base58.encode(sessionKey(stage).key.sign(encodeVoucher(CHANNEL_PROGRAMS.older, said)));
  return { data: { channelId, cumulativeAmount: cumulative.toString(), expiresAt: NEVER }, signature };
}

const sessionIn = ({ notes }: ScriptStage): MeteredSessionId => (notes.metered_session ?? raise('setup_not_ready')) as MeteredSessionId;

/** What a session of the sandbox does counts in no rate of the merchant's. */
const uncounted = async (): Promise<void> => {};

/** What the buyer's client sends: the challenge of this moment, echoed, and what it asks for. */
async function authorize(stage: ScriptStage, payload: object): Promise<string> {
  const { scope } = stage;
  const { header } = await newSessionChallenge(scope, await readSession(scope, sessionIn(stage)));
  const echoed = Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const credential = `Payment ${base64url.encode(utf8(canonicalJson({ challenge: echoed, payload })))}`;
  const authorized = await authorizeSession(scope, sessionIn(stage), credential, uncounted);
  return 'session' in authorized ? authorized.session.stage : authorized.committed.status;
}

/** The merchant's server begins a session, and its buyer opens it. */
export const meterSteps: Step[] = [
  {
    action: 'create_metered_session',
    run: async (stage) => {
      const { scope, notes, session } = stage;
      const sale = await getSale(scope, session.productId!, METERED_RAIL);
      notes.metered_session ??= (await commit(scope, await planMeteredSession(scope, sale, { cap: CAP }, customerIn(session)))).id;
      return done('created');
    },
  },
  {
    action: 'open',
    run: (stage) => {
      const [channelId, { address: authorizedSigner }] = [channelOf(stage), sessionKey(stage)];
      // As a test client says it: there is no channel on any chain, and the sandbox alone takes its word.
      const opening = { action: 'open', mode: 'push', channelId, authorizedSigner, deposit: DEPOSIT, signature: '1'.repeat(64) };
      return answerOf(() => authorize(stage, opening));
    },
    until: ['metered_session.opened'],
  },
];

/** The buyer's client announces a use and pays for it. `voucherFor`: the use whose voucher is shown. */
export const useStep = (use: number, until: EventType[] = ['metered_session.committed'], voucherFor = use): Step => ({
  action: 'commit',
  run: (stage) =>
    answerOf(async () => {
      const { scope } = stage;
      const deliveryId = `use-${use}`;
      await announceDelivery(scope, sessionIn(stage), { deliveryId, amount: USE }, { flood: uncounted, use: uncounted });
      const said = { deliveryId, voucher: voucherOf(stage, BigInt(voucherFor) * USE) };
      const committed = await commitDelivery(scope, await readSession(scope, sessionIn(stage)), said, uncounted);
      return committed.ok ? committed.committed.status : committed.reason;
    }),
  until,
});

/** The buyer adds to the deposit. */
export const topUpStep: Step = {
  action: 'top_up',
  run: (stage) =>
    answerOf(() => authorize(stage, { action: 'topUp', channelId: channelOf(stage), newDeposit: TOPPED_UP, signature: '1'.repeat(64) })),
};

/** The buyer's client closes: what was promised is settled, and the rest goes back. */
export const closeStep: Step = {
  action: 'close',
  run: (stage) =>
    answerOf(async () => {
      // Its challenge is a fresh one each time: the highest voucher, shown again, proves whose session it is.
      const { cumulative } = await readSession(stage.scope, sessionIn(stage));
      return authorize(stage, { action: 'close', channelId: channelOf(stage), voucher: voucherOf(stage, BigInt(cumulative)) });
    }),
  until: ['payment.confirmed', 'metered_session.closed'],
};
