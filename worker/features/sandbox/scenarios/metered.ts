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
import { customerIn, readAnswer } from './actions.ts';
import { done, type ScriptStage, type Step } from './script.ts';

const CAP = { asset: 'USDC' as const, amount: '1' };
const [DEPOSIT, TOPPED_UP] = ['500000', '1000000'];
const USE = 10_000n;
const NEVER = 4_102_444_800;

/** Buyer's voucher key. The channel's address does not exist on any chain. */
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

const uncounted = async (): Promise<void> => {};

async function authorize(stage: ScriptStage, payload: object): Promise<string> {
  const { scope } = stage;
  const { header } = await newSessionChallenge(scope, await readSession(scope, sessionIn(stage)));
  const echoed = Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const credential = `Payment ${base64url.encode(utf8(canonicalJson({ challenge: echoed, payload })))}`;
  const authorized = await authorizeSession(scope, sessionIn(stage), credential, uncounted);
  return 'session' in authorized ? authorized.session.stage : authorized.committed.status;
}

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
      // Opening of a test client: the sandbox accepts the claim although no channel exists on any chain.
      const opening = { action: 'open', mode: 'push', channelId, authorizedSigner, deposit: DEPOSIT, signature: '1'.repeat(64) };
      return readAnswer(() => authorize(stage, opening));
    },
    until: ['metered_session.opened'],
  },
];

/** Announces a use and pays for it. `voucherFor`: the use for which the voucher was signed. */
export const useStep = (use: number, until: EventType[] = ['metered_session.committed'], voucherFor = use): Step => ({
  action: 'commit',
  run: (stage) =>
    readAnswer(async () => {
      const { scope } = stage;
      const deliveryId = `use-${use}`;
      await announceDelivery(scope, sessionIn(stage), { deliveryId, amount: USE }, { flood: uncounted, use: uncounted });
      const said = { deliveryId, voucher: voucherOf(stage, BigInt(voucherFor) * USE) };
      const committed = await commitDelivery(scope, await readSession(scope, sessionIn(stage)), said, uncounted);
      return committed.ok ? committed.committed.status : committed.reason;
    }),
  until,
});

export const topUpStep: Step = {
  action: 'top_up',
  run: (stage) =>
    readAnswer(() => authorize(stage, { action: 'topUp', channelId: channelOf(stage), newDeposit: TOPPED_UP, signature: '1'.repeat(64) })),
};

export const closeStep: Step = {
  action: 'close',
  run: (stage) =>
    readAnswer(async () => {
      // Every attempt has a fresh challenge. Repeating the highest voucher proves ownership of the session.
      const { cumulative } = await readSession(stage.scope, sessionIn(stage));
      return authorize(stage, { action: 'close', channelId: channelOf(stage), voucher: voucherOf(stage, BigInt(cumulative)) });
    }),
  until: ['payment.confirmed', 'metered_session.closed'],
};
