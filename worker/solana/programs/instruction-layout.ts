import { type AccountMeta, AccountRole, type Address, type Instruction, type ReadonlyUint8Array } from '@solana/kit';

export interface InstructionLayout<Name extends string> {
  discriminator: number;
  accounts: readonly (readonly [name: Name, role: AccountRole])[];
}

export interface RawInstruction {
  accounts: readonly Address[];
  data: ReadonlyUint8Array;
}

export const SIGNER_WRITABLE = AccountRole.WRITABLE_SIGNER;
export const SIGNER = AccountRole.READONLY_SIGNER;
export const WRITABLE = AccountRole.WRITABLE;
export const READONLY = AccountRole.READONLY;

export function buildInstruction<Name extends string>(
  programAddress: Address,
  layout: InstructionLayout<Name>,
  accounts: Readonly<Record<NoInfer<Name>, Address>>,
  { args = new Uint8Array(), rest = [] }: { args?: ReadonlyUint8Array; rest?: readonly AccountMeta[] } = {},
): Instruction & { accounts: readonly AccountMeta[]; data: Uint8Array } {
  const named = layout.accounts.map(([name, role]): AccountMeta => ({ address: accounts[name], role }));
  return { programAddress, accounts: [...named, ...rest], data: Uint8Array.of(layout.discriminator, ...args) };
}

export function nameAccounts<Name extends string>(
  layout: InstructionLayout<Name>,
  accounts: readonly Address[],
): { named: Record<Name, Address>; rest: readonly Address[] } | null {
  const count = layout.accounts.length;
  if (accounts.length < count) return null;
  const entries = layout.accounts.map(([name], index) => [name, accounts[index]!] as const);
  return { named: Object.fromEntries(entries) as Record<Name, Address>, rest: accounts.slice(count) };
}
