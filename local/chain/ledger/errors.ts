export const RPC_CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  blockCleanedUp: -32001,
  preflightFailure: -32002,
  signatureVerification: -32003,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  historyNotAvailable: -32011,
  unsupportedTransactionVersion: -32015,
  minContextSlot: -32016,
} as const;

export class RpcError extends Error {
  readonly code: number;
  readonly payload: unknown;

  constructor(code: number, message: string, payload?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.payload = payload;
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, message);
}

type InstructionErrorJson = string | { Custom: number };

export type TransactionErrorJson =
  | string
  | { InstructionError: [number, InstructionErrorJson] }
  | { DuplicateInstruction: number }
  | { InsufficientFundsForRent: { account_index: number } }
  | { ProgramExecutionTemporarilyRestricted: { account_index: number } };

// Errors in the VM's numeric order. The text is the part that a node prints after "Transaction simulation failed: ".
const TRANSACTION_ERRORS: ReadonlyArray<readonly [name: string, text?: string]> = [
  ['AccountInUse', 'Account in use'],
  ['AccountLoadedTwice', 'Account loaded twice'],
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
  ['ProgramAccountNotFound', 'Attempt to load a program that does not exist'],
  ['InsufficientFundsForFee', 'Insufficient funds for fee'],
  ['InvalidAccountForFee', 'This account may not be used to pay transaction fees'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  ['BlockhashNotFound', 'Blockhash not found'],
  ['CallChainTooDeep', 'Loader call chain is too deep'],
  ['MissingSignatureForFee', 'Transaction requires a fee but has no signature present'],
  ['InvalidAccountIndex', 'Transaction contains an invalid account reference'],
  ['SignatureFailure', 'Transaction did not pass signature verification'],
  ['InvalidProgramForExecution', 'This program may not be used for executing instructions'],
  ['SanitizeFailure', 'Transaction failed to sanitize accounts offsets correctly'],
  ['ClusterMaintenance'],
  ['AccountBorrowOutstanding'],
  ['WouldExceedMaxBlockCostLimit'],
  ['UnsupportedVersion', 'Transaction version is unsupported'],
  ['InvalidWritableAccount', 'Transaction loads a writable account that cannot be written'],
  ['WouldExceedMaxAccountCostLimit'],
  ['WouldExceedAccountDataBlockLimit'],
  ['TooManyAccountLocks', 'Transaction locked too many accounts'],
  ['AddressLookupTableNotFound', "Transaction loads an address table account that doesn't exist"],
  ['InvalidAddressLookupTableOwner', 'Transaction loads an address table account with an invalid owner'],
  ['InvalidAddressLookupTableData', 'Transaction loads an address table account with invalid data'],
  ['InvalidAddressLookupTableIndex', 'Transaction address table lookup uses an invalid index'],
  ['InvalidRentPayingAccount', 'Transaction leaves an account with a lower balance than rent-exempt minimum'],
  ['WouldExceedMaxVoteCostLimit'],
  ['WouldExceedAccountDataTotalLimit'],
  ['MaxLoadedAccountsDataSizeExceeded', 'Transaction exceeded max loaded accounts data size cap'],
  ['ResanitizationNeeded'],
  ['InvalidLoadedAccountsDataSizeLimit', 'LoadedAccountsDataSizeLimit set for transaction must be greater than 0.'],
  ['UnbalancedTransaction'],
  ['ProgramCacheHitMaxLimit'],
  ['CommitCancelled'],
];

const INSTRUCTION_ERRORS: ReadonlyArray<readonly [name: string, text?: string]> = [
  ['GenericError', 'generic instruction error'],
  ['InvalidArgument', 'invalid program argument'],
  ['InvalidInstructionData', 'invalid instruction data'],
  ['InvalidAccountData', 'invalid account data for instruction'],
  ['AccountDataTooSmall', 'account data too small for instruction'],
  ['InsufficientFunds', 'insufficient funds for instruction'],
  ['IncorrectProgramId', 'incorrect program id for instruction'],
  ['MissingRequiredSignature', 'missing required signature for instruction'],
  ['AccountAlreadyInitialized', 'instruction requires an uninitialized account'],
  ['UninitializedAccount', 'instruction requires an initialized account'],
  ['UnbalancedInstruction', 'sum of account balances before and after instruction do not match'],
  ['ModifiedProgramId', 'instruction illegally modified the program id of an account'],
  ['ExternalAccountLamportSpend', 'instruction spent from the balance of an account it does not own'],
  ['ExternalAccountDataModified', 'instruction modified data of an account it does not own'],
  ['ReadonlyLamportChange', 'instruction changed the balance of a read-only account'],
  ['ReadonlyDataModified', 'instruction modified data of a read-only account'],
  ['DuplicateAccountIndex'],
  ['ExecutableModified'],
  ['RentEpochModified'],
  ['NotEnoughAccountKeys', 'insufficient account keys for instruction'],
  ['AccountDataSizeChanged'],
  ['AccountNotExecutable'],
  ['AccountBorrowFailed'],
  ['AccountBorrowOutstanding'],
  ['DuplicateAccountOutOfSync'],
  ['InvalidError'],
  ['ExecutableDataModified'],
  ['ExecutableLamportChange'],
  ['ExecutableAccountNotRentExempt'],
  ['UnsupportedProgramId', 'Unsupported program id'],
  ['CallDepth'],
  ['MissingAccount', 'An account required by the instruction is missing'],
  ['ReentrancyNotAllowed'],
  ['MaxSeedLengthExceeded'],
  ['InvalidSeeds', 'Provided seeds do not result in a valid address'],
  ['InvalidRealloc'],
  ['ComputationalBudgetExceeded', 'Computational budget exceeded'],
  ['PrivilegeEscalation', 'Cross-program invocation with unauthorized signer or writable account'],
  ['ProgramEnvironmentSetupFailure'],
  ['ProgramFailedToComplete', 'Program failed to complete'],
  ['ProgramFailedToCompile'],
  ['Immutable', 'Account is immutable'],
  ['IncorrectAuthority', 'Incorrect authority provided'],
  ['AccountNotRentExempt', 'An account does not have enough lamports to be rent-exempt'],
  ['InvalidAccountOwner', 'Invalid account owner'],
  ['ArithmeticOverflow', 'Program arithmetic overflowed'],
  ['UnsupportedSysvar'],
  ['IllegalOwner', 'Provided owner is not allowed'],
  ['MaxAccountsDataAllocationsExceeded'],
  ['MaxAccountsExceeded'],
  ['MaxInstructionTraceLengthExceeded'],
  ['BuiltinProgramsMustConsumeComputeUnits'],
  ['BorshIoError', 'Failed to serialize or deserialize account data'],
];

export type MachineError = number | { index?: number; accountIndex?: number; err?: () => number | { code?: number } };

export function encodeTransactionError(error: MachineError): TransactionErrorJson {
  if (typeof error === 'number') return TRANSACTION_ERRORS[error]?.[0] ?? 'SanitizeFailure';
  if (error.index !== undefined && typeof error.err === 'function') return { InstructionError: [error.index, encodeCause(error.err())] };
  if (error.index !== undefined) return { DuplicateInstruction: error.index };
  const accountIndex = { account_index: error.accountIndex ?? 0 };
  if (error.constructor.name.endsWith('ProgramExecutionTemporarilyRestricted'))
    return { ProgramExecutionTemporarilyRestricted: accountIndex };
  return { InsufficientFundsForRent: accountIndex };
}

function encodeCause(cause: number | { code?: number }): InstructionErrorJson {
  if (typeof cause === 'number') return INSTRUCTION_ERRORS[cause]?.[0] ?? 'GenericError';
  return cause.code === undefined ? 'BorshIoError' : { Custom: cause.code };
}

export function describeTransactionError(error: TransactionErrorJson): string {
  if (typeof error === 'string') return textOf(TRANSACTION_ERRORS, error);
  if ('InstructionError' in error) {
    const [index, cause] = error.InstructionError;
    const text = typeof cause === 'string' ? textOf(INSTRUCTION_ERRORS, cause) : `custom program error: 0x${cause.Custom.toString(16)}`;
    return `Error processing Instruction ${index}: ${text}`;
  }
  if ('DuplicateInstruction' in error)
    return `Transaction contains a duplicate instruction (${error.DuplicateInstruction}) that is not allowed`;
  if ('InsufficientFundsForRent' in error) {
    return `Transaction results in an account (${error.InsufficientFundsForRent.account_index}) with insufficient funds for rent`;
  }
  const index = error.ProgramExecutionTemporarilyRestricted.account_index;
  return `Execution of the program referenced by account at index ${index} is temporarily restricted.`;
}

function textOf(table: ReadonlyArray<readonly [string, string?]>, name: string): string {
  return table.find((row) => row[0] === name)?.[1] ?? name;
}
