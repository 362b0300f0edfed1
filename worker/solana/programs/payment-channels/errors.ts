import type { ChannelProgram } from './channel.ts';

/** Error numbers of the payment-channels program. (IDL 0.1.0) */
export const CHANNEL_ERRORS = {
  notImplemented: 0,
  missingRequiredSignature: 1,
  invalidChannelStatus: 2,
  invalidAccountDiscriminator: 3,
  unsupportedChannelVersion: 4,
  invalidChannelPayer: 5,
  invalidChannelPayee: 6,
  invalidChannelMint: 7,
  invalidEventAuthority: 8,
  notEnoughAccountKeys: 9,
  invalidChannelRentPayer: 10,
  channelAccountMismatch: 50,
  invalidChannelTokenAccount: 51,
  invalidChannelTokenExtensions: 52,
  mintAccountMismatch: 53,
  invalidMintTokenProgram: 54,
  malformedMintTokenAccountData: 55,
  malformedMintTokenExtensions: 56,
  payerAccountMismatch: 57,
  invalidPayerTokenAccount: 58,
  invalidPayerTokenExtensions: 59,
  payeeAccountMismatch: 60,
  invalidPayeeTokenAccount: 61,
  invalidPayeeTokenExtensions: 62,
  depositMustBeNonZero: 200,
  gracePeriodMustBeNonZero: 201,
  missingEd25519Verification: 230,
  malformedEd25519Instruction: 231,
  voucherChannelMismatch: 232,
  voucherExpired: 233,
  voucherWatermarkNotMonotonic: 234,
  voucherOverDeposit: 235,
  /** Raised only by the older program: its instruction repeats the voucher, and the two may differ. */
  voucherMessageMismatch: 236,
  voucherSignerMismatch: 237,
  voucherBadMagic: 238,
  invalidRecipientCount: 260,
  invalidSplitConfig: 261,
  distributionPartsOverflow: 262,
  duplicateRecipient: 263,
  distributionAmountOverflow: 264,
  distributionPreimageLengthOverflow: 265,
  channelAddressMismatch: 2000,
  payerPayeeMustDiffer: 2001,
  invalidAuthorizedSigner: 2002,
  openSlotOutOfWindow: 2003,
  topUpDepositOverflow: 2100,
  sealDeadlineOverflow: 2200,
  sealGracePeriodNotElapsed: 2201,
  payerAlreadyWithdrawn: 2300,
  refundCalculationOverflow: 2301,
  channelNotDistributable: 2400,
  treasuryAccountMismatch: 2401,
  invalidTreasuryTokenAccount: 2402,
  invalidTreasuryTokenExtensions: 2403,
  recipientAccountMismatch: 2404,
  invalidRecipientTokenAccount: 2405,
  invalidRecipientTokenExtensions: 2406,
  invalidDistributionHash: 2407,
  nothingToDistribute: 2408,
  recipientAccountCountMismatch: 2409,
  distributePoolOverflow: 2410,
  distributeBalanceCalculationOverflow: 2411,
  rentPayerBalanceOverflow: 2412,
  distributeTransferQueueOverflow: 2413,
  channelCloseTooEarly: 2414,
} as const;

export type ChannelError = keyof typeof CHANNEL_ERRORS;

const CURRENT_ALONE: readonly ChannelError[] = [
  'invalidChannelRentPayer',
  'voucherBadMagic',
  'openSlotOutOfWindow',
  'sealGracePeriodNotElapsed',
  'channelCloseTooEarly',
];

export function findChannelError(program: ChannelProgram, code: number): ChannelError | null {
  const names = Object.keys(CHANNEL_ERRORS) as ChannelError[];
  const name = names.find((known) => CHANNEL_ERRORS[known] === code) ?? null;
  return name !== null && program.generation === 'older' && CURRENT_ALONE.includes(name) ? null : name;
}
