import { type Address, type EncodedAccount, lamports } from '@solana/kit';
import { accountRole, type DecodedTransaction } from '../ledger/decode-transaction.ts';
import type { Machine } from '../ledger/machine.ts';
import { SYSTEM_PROGRAM } from '../ledger/network.ts';

/** State of all accounts that a transaction may change. No other account can change, so restoring them undoes the transaction. */
export class Snapshot {
  readonly #machine: Machine;
  readonly #accounts: ReadonlyMap<Address, EncodedAccount | null>;

  constructor(machine: Machine, decoded: DecodedTransaction) {
    const writable = decoded.keys.filter((_key, index) => accountRole(decoded, index).isWritable);
    this.#machine = machine;
    this.#accounts = new Map(writable.map((address) => [address, machine.findAccount(address)]));
  }

  restore(): void {
    for (const [address, account] of this.#accounts) {
      if (account === null) this.#machine.putAccount(address, new Uint8Array(), SYSTEM_PROGRAM, 0n);
      else this.#machine.putAccount(address, account.data, account.programAddress, account.lamports);
    }
  }

  readNow(): ReadonlyMap<Address, EncodedAccount> {
    return new Map([...this.#accounts.keys()].map((address) => [address, this.#machine.findAccount(address) ?? emptyAccount(address)]));
  }
}

export const emptyAccount = (address: Address): EncodedAccount => ({
  address,
  data: new Uint8Array(),
  executable: false,
  lamports: lamports(0n),
  programAddress: SYSTEM_PROGRAM,
  space: 0n,
});
