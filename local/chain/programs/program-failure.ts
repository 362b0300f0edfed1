import type { TransactionErrorJson } from '../ledger/errors.ts';

/** A transaction the runtime ended for a reason that belongs to no instruction. */
export class TransactionFailure extends Error {
  readonly err: TransactionErrorJson;

  constructor(err: TransactionErrorJson) {
    super(JSON.stringify(err));
    this.name = 'TransactionFailure';
    this.err = err;
  }
}
