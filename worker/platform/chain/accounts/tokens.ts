import type { Address } from '@solana/kit';
import { AccountState, getTokenDecoder, type Token } from '@solana-program/token';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import { isClassicHolding } from '#solana/programs/token-account.ts';
import type { Instruction } from '#solana/transaction.ts';
import { type Accounts, holdingOf } from './accounts.ts';

/** Errors of the token program. */
const TOKEN_ERRORS = { insufficientFunds: 1, ownerMismatch: 4, accountFrozen: 17 } as const;
/** What gives an account's money into another's hand, and takes that back. */
const TOKEN_INSTRUCTIONS = { approve: 4, revoke: 5, transferChecked: 12, approveChecked: 13 } as const;

/** True for what gives an account's money into another's hand, or takes that back. */
export const isApproval = ({ programId, data }: Instruction): boolean =>
  programId === TOKEN_PROGRAM &&
  data[0] !== TOKEN_INSTRUCTIONS.transferChecked &&
  Object.values<number>(TOKEN_INSTRUCTIONS).includes(data[0] ?? -1);

/** Approvals and transfers of the classic token program, over the token accounts that are kept. Money of all others is without end. */
export function runToken(state: Accounts, { accounts, data }: Instruction, isSigner: (address: string) => boolean): void {
  const [source, second, third, fourth] = accounts;
  const account = source === undefined ? null : state.find(source);
  if (account === null || !isClassicHolding({ programAddress: account.owner as Address, data: account.data })) return;
  const held = getTokenDecoder().decode(account.data);
  const units = data.length >= 9 ? new DataView(data.buffer, data.byteOffset).getBigUint64(1, true) : 0n;
  const keep = (by: string | undefined, patch: Partial<Parameters<typeof holdingOf>[0]>) => {
    requireOwner(held, by, isSigner);
    state.put(source!, holdingOf({ ...held, ...patch }));
  };
  const { approve, approveChecked, revoke, transferChecked } = TOKEN_INSTRUCTIONS;
  if (data[0] === approve) keep(third, { delegate: second as Address, delegatedAmount: units });
  if (data[0] === approveChecked) keep(fourth, { delegate: third as Address, delegatedAmount: units });
  if (data[0] === revoke) keep(second, { delegate: null, delegatedAmount: 0n });
  if (data[0] === transferChecked) requireTransfer(held, units, fourth, isSigner);
}

function requireOwner({ owner }: Token, signer: string | undefined, isSigner: (address: string) => boolean): void {
  if (signer !== owner) failProgram(TOKEN_ERRORS.ownerMismatch);
  if (!isSigner(owner)) failProgram('MissingRequiredSignature');
}

function requireTransfer(held: Token, units: bigint, by: string | undefined, isSigner: (address: string) => boolean): void {
  const isDelegate = held.delegate.__option === 'Some' && held.delegate.value === by;
  if (held.state === AccountState.Frozen) failProgram(TOKEN_ERRORS.accountFrozen);
  if (by !== held.owner && !isDelegate) failProgram(TOKEN_ERRORS.ownerMismatch);
  if (held.amount < units || (isDelegate && held.delegatedAmount < units)) failProgram(TOKEN_ERRORS.insufficientFunds);
  if (!isSigner(by!)) failProgram('MissingRequiredSignature');
}
