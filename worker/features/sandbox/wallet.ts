import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { keyRing, type SigningKey } from '#core/crypto.ts';
import { base58, base64, base64url } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { DECIMALS } from '#core/money.ts';
import { prepareTransaction, termsOf } from '#features/checkout/prepare-transaction.ts';
import { decodeSigned } from '#platform/chain/simulated-blocks.ts';
import { SimulatedChain } from '#platform/chain/simulated-chain.ts';
import { sandboxSeed } from '#platform/chain/simulated-config.ts';
import type { Scope } from '#platform/context.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { SandboxOutcome } from '#platform/db/tables/sandbox.ts';
import { DECLARED_PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER } from '#protocols/x402/payment-identifier.ts';
import { encodeHeader, type PaymentRequired, X402_VERSION } from '#protocols/x402/wire.ts';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount, buildCheckoutTransaction } from '#solana/checkout-transaction.ts';

/** Wallet of a sandbox, which can pay any amount on the simulated chain and nothing elsewhere. */
export interface TestWallet {
  address: string;
  key: SigningKey;
}

/** Derives a wallet from its label: deterministic per merchant, session and deployment secret. */
export function testWallet({ config, sandbox }: Scope, label: string): TestWallet {
  const seed = sandboxSeed(config, 'wallet', sandbox!.merchantId, sandbox!.sessionId ?? '', label);
  const [key] = keyRing(base64url.encode(seed));
  return { address: base58.encode(key!.publicKey), key: key! };
}

/** Returns the payout wallet of a session's merchant, which also signs refunds if no other wallet is named. */
export const merchantOf = (scope: Scope): TestWallet => testWallet(scope, 'named:merchant');

interface SignedTransfer {
  wire: string;
  txSignature: string | null;
  writes: Write[];
}

/** Signs and plans the broadcast. `txSignature` is null and `writes` empty if signatures are missing or the chain refuses. */
export async function planSignature(scope: Scope, wallet: TestWallet, transaction: string): Promise<SignedTransfer> {
  const { wire, messageBytes } = signWith(wallet, transaction);
  const sent = await simulatedChainOf(scope).planSend(base64.decode(wire), LANDS);
  if ('kind' in sent) return { wire, txSignature: null, writes: [] };
  return { wire, txSignature: base58.encode(wallet.key.sign(messageBytes)), writes: sent.writes };
}

/**
 * Signs for every required signer without their keys: a product may pay out to, and be paid by, any wallet. `signer` is the fee payer.
 * `txSignature` is null if the chain refuses.
 */
export async function planVouchedSignature(scope: Scope, transaction: string): Promise<SignedTransfer & { signer: string }> {
  const decoded = getTransactionDecoder().decode(base64.decode(transaction));
  const bytes = merchantOf(scope).key.sign(Uint8Array.from(decoded.messageBytes));
  const signatures = Object.fromEntries(Object.keys(decoded.signatures).map((signer) => [signer, bytes]));
  const signed = Uint8Array.from(getTransactionEncoder().encode({ ...decoded, signatures } as typeof decoded));
  const sent = await simulatedChainOf(scope).planSend(signed, LANDS, { isVouched: true });
  const [txSignature, writes] = 'kind' in sent ? [null, []] : [base58.encode(bytes), sent.writes];
  return { wire: base64.encode(signed), txSignature, writes, signer: Object.keys(decoded.signatures)[0]! };
}

/**
 * Signs for one wallet and leaves other signatures unchanged. Takes and returns base64. Throws 422 payment_mismatch if the wallet is not a
 * signer.
 */
function signWith({ address: signer, key }: TestWallet, transaction: string): { wire: string; messageBytes: Uint8Array } {
  const wire = base64.decode(transaction);
  if (decodeSigned(wire) === null) throw new ApiError('payment_mismatch', { meta: { reason: 'undecodable' } });
  const decoded = getTransactionDecoder().decode(wire);
  if (!Object.hasOwn(decoded.signatures, signer))
    throw new ApiError('payment_mismatch', { meta: { reason: 'not_a_signer', wallet: signer } });
  const messageBytes = Uint8Array.from(decoded.messageBytes);
  const signatures = { ...decoded.signatures, [signer as Address]: key.sign(messageBytes) };
  const signed = getTransactionEncoder().encode({ ...decoded, signatures } as typeof decoded);
  return { wire: base64.encode(Uint8Array.from(signed)), messageBytes };
}

export const simulatedChainOf = ({ db, sandbox, now }: Scope): SimulatedChain => new SimulatedChain(db, { ...sandbox!, now });

export const LANDS: SandboxOutcome = { landsAfterMs: 0 };

export type Paying = 'paid' | 'underpaid' | 'overpaid';
const AMOUNTS: Record<Paying, (units: bigint) => bigint> = {
  paid: (units) => units,
  underpaid: (units) => units - (units + 1n) / 2n,
  overpaid: (units) => units + (units + 1n) / 2n,
};

interface Signed {
  signature: string;
  writes: Write[];
}

interface HowToPay {
  wallet: TestWallet;
  paying: Paying;
  chainOutcome?: SandboxOutcome;
}

export async function planCheckoutPayment(
  scope: Scope,
  payment: Payment,
  { wallet, paying, chainOutcome = LANDS }: HowToPay,
): Promise<Signed> {
  const terms = termsOf(scope, payment, [true, true]);
  const merchant = { ...terms.merchant, units: AMOUNTS[paying](terms.merchant.units) };
  const unsigned =
    paying === 'paid'
      ? (await prepareTransaction(scope, payment, wallet.address)).transaction
      : await buildCheckoutTransaction({ ...terms, merchant }, wallet.address, (await simulatedChainOf(scope).prepare([])).lifetime);
  const { wire, messageBytes } = signWith(wallet, unsigned);
  const sent = await simulatedChainOf(scope).planSend(base64.decode(wire), chainOutcome);
  if ('kind' in sent) throw new Error(`a test wallet's transaction was not taken: ${sent.reason}`);
  return { signature: base58.encode(wallet.key.sign(messageBytes)), writes: sent.writes };
}

const COMPUTE_UNITS = 20_000;
const COMPUTE_PRICE_MICRO_LAMPORTS = 1n;

/**
 * Answers an x402 challenge (scheme `exact` on Solana) like the public client: returns PAYMENT-SIGNATURE over a transaction that the
 * facilitator co-signs. Throws 422 for a challenge that this sandbox did not make.
 */
export async function planChallengePayment(
  scope: Scope,
  required: PaymentRequired,
  { wallet, paying, chainOutcome = LANDS, identifier }: HowToPay & { identifier?: string | undefined },
): Promise<Signed> {
  const accepted = required.accepts.find(({ scheme, network }) => scheme === 'exact' && network === scope.config.network.caip2);
  const { feePayer, memo } = (accepted?.extra ?? {}) as { feePayer?: unknown; memo?: unknown };
  if (!accepted || typeof feePayer !== 'string' || typeof memo !== 'string')
    throw new ApiError('payment_mismatch', { meta: { reason: 'not_a_sandbox_challenge' } });
  const { asset, payTo, amount } = accepted;
  const chain = simulatedChainOf(scope);
  const { lifetime } = await chain.prepare([]);
  const payer = createNoopSigner(address(wallet.address));
  const [source, destination] = [await associatedTokenAccount(wallet.address, asset), await associatedTokenAccount(payTo, asset)];
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(address(feePayer), m),
    (m) => setTransactionMessageLifetimeUsingBlockhash({ ...lifetime, blockhash: lifetime.blockhash as Blockhash }, m),
    (m) =>
      appendTransactionMessageInstructions(
        [
          getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }),
          getSetComputeUnitPriceInstruction({ microLamports: COMPUTE_PRICE_MICRO_LAMPORTS }),
          getTransferCheckedInstruction({
            source: address(source),
            mint: address(asset),
            destination: address(destination),
            authority: payer,
            amount: AMOUNTS[paying](BigInt(amount)),
            decimals: DECIMALS.USDC,
          }),
          getAddMemoInstruction({ memo }, { programAddress: address(MEMO_PROGRAM) }),
        ],
        m,
      ),
  );
  const { wire, messageBytes } = signWith(wallet, getBase64EncodedWireTransaction(compileTransaction(message)));
  const extensions = required.extensions ? { extensions: echoedExtensions(required, identifier) } : {};
  const payload = {
    x402Version: X402_VERSION,
    resource: required.resource,
    accepted,
    payload: { transaction: wire },
    ...extensions,
  } as const;
  const signature = encodeHeader(payload);
  return { signature, writes: [chain.planOutcome(messageBytes, chainOutcome)] };
}

/** Extensions as a public client echoes them, with its name for the payment, if it has one. */
const echoedExtensions = ({ extensions }: PaymentRequired, id: string | undefined) => ({
  ...extensions,
  ...(id === undefined
    ? {}
    : { [PAYMENT_IDENTIFIER]: { ...DECLARED_PAYMENT_IDENTIFIER, info: { ...DECLARED_PAYMENT_IDENTIFIER.info, id } } }),
});

export async function send(scope: Scope, { signature, writes }: Signed): Promise<string> {
  return commit(scope, { events: [], writes, result: signature });
}
