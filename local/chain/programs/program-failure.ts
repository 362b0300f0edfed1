import type { TransactionErrorJson } from '../ledger/errors.ts';

export class TransactionFailure extends Error {
  readonly err: TransactionErrorJson;

  constructor(err: TransactionErrorJson) {
    super(JSON.stringify(err));
    this.name = 'TransactionFailure';
    this.err = err;
  }
}
