import type { Address } from '@solana/kit';
import { utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM } from '../../assets.ts';
import { readSigned } from '../../checkout-transaction.ts';
import { type Instruction, isNonceAdvance, parseAtaCreation } from '../../transaction.ts';
import { associatedTokenAddress } from '../derived-address.ts';
import { parseSubscriptionInstruction, type SubscriptionInstruction } from './parse-instruction.ts';
import { findAuthorityAddress, findSubscriptionAddress, SUBSCRIPTIONS_PROGRAM, type SubscriptionPlan, sameTerms } from './subscription.ts';
import type { CollectionRoute } from './subscription-state.ts';

type ConsentName = Extract<SubscriptionInstruction['name'], 'initAuthority' | 'subscribe' | 'resume' | 'cancel' | 'revoke'>;

type ConsentProblem =
  | 'undecodable'
  | 'lookup_tables'
  | 'unsigned'
  | 'durable_nonce'
  | 'foreign_wallet'
  | 'foreign_subscription'
  | 'foreign_instruction'
  | 'terms'
  | 'nothing';

export interface SignedConsent {
  signature: string;
  names: ConsentName[];
  /** True if the required memo is present: the wallet signed for this purpose, so the transaction cannot be submitted for another. */
  isMarked: boolean;
}

/**
 * Verifies that a signed transaction concerns only this wallet's subscription to this plan. Wallets may add protection (Lighthouse, compute
 * budget). Other additions are refused, because the service would broadcast them. Whether it can land is not checked. `plan`: null if
 * subscribing is not allowed. `memo`: the only allowed memo.
 */
export function checkConsent(
  wire: Uint8Array,
  route: Pick<CollectionRoute, 'plan' | 'subscriber' | 'mint'>,
  plan: SubscriptionPlan | null,
  memo: string | null = null,
): Result<SignedConsent, ConsentProblem> {
  const decoded = readSigned(wire);
  if (!decoded.ok) return decoded;
  const { instructions, signature, payer } = decoded.value;
  if (instructions.some(isNonceAdvance)) return err('durable_nonce');
  if (payer !== route.subscriber) return err('foreign_wallet');
  const names: ConsentName[] = [];
  const marks = instructions.filter((one) => memo !== null && isMemo(one, memo));
  for (const instruction of instructions.filter((one) => !isHarmless(one, route) && !marks.includes(one))) {
    const judged = judgeConsent(instruction, route, plan);
    if (!judged.ok) return judged;
    names.push(judged.value);
  }
  return names.length === 0 ? err('nothing') : ok({ signature, names, isMarked: marks.length > 0 });
}

const isMemo = ({ programId, data }: Instruction, memo: string): boolean => {
  const wanted = utf8(memo);
  return programId === MEMO_PROGRAM && data.length === wanted.length && data.every((byte, at) => byte === wanted[at]);
};

function isHarmless(instruction: Instruction, { subscriber, mint }: Pick<CollectionRoute, 'subscriber' | 'mint'>): boolean {
  const { programId } = instruction;
  if (programId === COMPUTE_BUDGET_PROGRAM || programId === LIGHTHOUSE_PROGRAM) return true;
  const own = associatedTokenAddress(subscriber, mint, TOKEN_PROGRAM as Address);
  return parseAtaCreation(instruction)?.ata === own;
}

function judgeConsent(
  { programId, accounts, data }: Instruction,
  route: Pick<CollectionRoute, 'plan' | 'subscriber' | 'mint'>,
  plan: SubscriptionPlan | null,
): Result<ConsentName, ConsentProblem> {
  if (programId !== SUBSCRIPTIONS_PROGRAM) return err('foreign_instruction');
  const parsed = parseSubscriptionInstruction({ accounts: accounts as Address[], data });
  if (!parsed.ok) return err('foreign_instruction');
  const instruction = parsed.value;
  const { subscriber } = route;
  switch (instruction.name) {
    case 'initAuthority':
      return instruction.accounts.user === subscriber && isOfAuthority(instruction.accounts.authority, route)
        ? ok('initAuthority')
        : err('foreign_wallet');
    case 'subscribe':
      if (!isOfPlan(instruction.accounts, route)) return err('foreign_subscription');
      return plan !== null && sameTerms(instruction.consent, plan) && instruction.consent.mint === route.mint
        ? ok('subscribe')
        : err('terms');
    case 'resume':
    case 'cancel':
    case 'revoke':
      return isOfPlan(instruction.accounts, route) ? ok(instruction.name) : err('foreign_subscription');
    default:
      return err('foreign_instruction');
  }
}

const isOfAuthority = (authority: Address, { subscriber, mint }: Pick<CollectionRoute, 'subscriber' | 'mint'>): boolean =>
  authority === findAuthorityAddress(subscriber, mint).address;

const isOfPlan = (
  accounts: { plan: Address; subscription: Address },
  { plan, subscriber }: Pick<CollectionRoute, 'plan' | 'subscriber'>,
): boolean => accounts.plan === plan && accounts.subscription === findSubscriptionAddress(plan, subscriber).address;
