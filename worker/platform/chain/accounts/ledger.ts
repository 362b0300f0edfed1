import type { Address } from '@solana/kit';
import { sha256Hex } from '#core/crypto.ts';
import { base64, utf8 } from '#core/encoding.ts';
import { unixSeconds } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { type SignedTransaction, slotAt } from '../simulated-blocks.ts';
import { findAccounts, openAccount, type SandboxMoment, writeAccount } from './accounts.store.ts';
import { holdingAddress, newHolding, withAmount } from './accounts.ts';
import { runTransaction, type SimulatedRun } from './run.ts';

export class SimulatedLedger {
  readonly #db: Db;
  readonly #at: SandboxMoment;

  constructor(db: Db, at: SandboxMoment) {
    this.#db = db;
    this.#at = at;
  }

  async read(addresses: readonly string[]): Promise<(ChainAccount | null)[]> {
    const stored = await this.#load(addresses);
    return addresses.map((address) => stored.get(address)?.account ?? null);
  }

  async run(signed: SignedTransaction): Promise<SimulatedRun> {
    return (await this.#run(signed)).run;
  }

  /** Runs a transaction and plans its writes. A batch with them aborts if another transaction changed the same account. */
  async plan(signed: SignedTransaction): Promise<{ run: SimulatedRun; writes: Write[] }> {
    const { stored, run } = await this.#run(signed);
    if (run.kind === 'failed') return { run, writes: [] };
    const changedBy = sha256Hex(signed.messageBytes);
    const writes = [...run.changed].flatMap(([address, account]) =>
      writeAccount(this.#db, this.#at, { address, account, before: stored.get(address)?.changedBy ?? null }, changedBy),
    );
    const opened = [...run.opened].map(([address, account]) => openAccount(this.#db, this.#at, { address, account }, changedBy));
    return { run, writes: [...writes, ...opened] };
  }

  async planHolding(owner: string, mint: string, amount: bigint): Promise<Write[]> {
    const address = holdingAddress(owner, mint);
    const known = (await this.#load([address])).get(address);
    const account = known ? withAmount(known.account, amount) : newHolding(owner as Address, mint as Address, amount);
    const changedBy = sha256Hex(utf8(`${address} ${amount} ${known?.changedBy ?? ''}`));
    return writeAccount(this.#db, this.#at, { address, account, before: known?.changedBy ?? null }, changedBy);
  }

  async #run(signed: SignedTransaction) {
    const stored = await this.#load(signed.message.accountKeys);
    const accounts = new Map([...stored].map(([address, { account }]) => [address, account]));
    const { now } = this.#at;
    return { stored, run: runTransaction(signed, accounts, { slot: slotAt(now), now: unixSeconds(now) }) };
  }

  async #load(addresses: readonly string[]): Promise<Map<string, { account: ChainAccount; changedBy: string }>> {
    const rows = await findAccounts(this.#db, this.#at, addresses);
    return new Map(
      rows.map(({ address, owner, data, changedBy }) => [address, { account: { owner, data: base64.decode(data) }, changedBy }]),
    );
  }
}
