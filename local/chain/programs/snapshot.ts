import { type Address, type EncodedAccount, lamports } from '@solana/kit';
import { accountRole, type DecodedTransaction } from '../ledger/decode-transaction.ts';
import type { Machine } from '../ledger/machine.ts';
import { SYSTEM_PROGRAM } from '../ledger/network.ts';

/** The accounts a transaction may change, as they were. Nothing else can change, so putting them back undoes it. */
export class Snapshot {
  readonly #machine: Machine;
  readonly #accounts: ReadonlyMap<Address, EncodedAccount | null>;

  constructor(machine: Machine, decoded: DecodedTransaction) {
    const writable = decoded.keys.filter((_key, index) => accountRole(decoded, index).isWritable);
    this.#machine = machine;
    this.#accounts = new Map(writable.map((address) => [address, machine.findAccount(address)]));
  }

  /** Puts every account back. */
  restore(): void {
    for (const [address, account] of this.#accounts) {
      if (account === null) this.#machine.putAccount(address, new Uint8Array(), SYSTEM_PROGRAM, 0n);
      else this.#machine.putAccount(address, account.data, account.programAddress, account.lamports);
    }
  }

  /** The same accounts as they are now; one that is gone holds nothing. */
  readNow(): ReadonlyMap<Address, EncodedAccount> {
    return new Map([...this.#accounts.keys()].map((address) => [address, this.#machine.findAccount(address) ?? emptyAccount(address)]));
  }
}

/** What stands at an address that holds nothing. */
export const emptyAccount = (address: Address): EncodedAccount => ({
  address,
  data: new Uint8Array(),
  executable: false,
  lamports: lamports(0n),
  programAddress: SYSTEM_PROGRAM,
  space: 0n,
});
