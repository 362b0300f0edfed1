/**
 * Account lists of the payment-channels program: current ones, then older ones if different.
 * @module
 */

import { type InstructionLayout, READONLY, SIGNER, SIGNER_WRITABLE, WRITABLE } from '../instruction-layout.ts';

const openAccounts = [
  ['payee', READONLY],
  ['mint', READONLY],
  ['authorizedSigner', READONLY],
  ['channel', WRITABLE],
  ['payerTokenAccount', WRITABLE],
  ['escrow', WRITABLE],
  ['tokenProgram', READONLY],
  ['systemProgram', READONLY],
  ['rentSysvar', READONLY],
  ['associatedTokenProgram', READONLY],
  ['eventAuthority', READONLY],
  ['program', READONLY],
] as const;

const payoutAccounts = [
  ['escrow', WRITABLE],
  ['payerTokenAccount', WRITABLE],
  ['payeeTokenAccount', WRITABLE],
  ['treasuryTokenAccount', WRITABLE],
  ['mint', READONLY],
  ['tokenProgram', READONLY],
  ['eventAuthority', READONLY],
  ['program', READONLY],
] as const;

type OpenAccount = 'payer' | 'rentPayer' | (typeof openAccounts)[number][0];
type PayoutAccount = 'channel' | 'payer' | 'rentPayer' | (typeof payoutAccounts)[number][0];

export const OPEN: InstructionLayout<OpenAccount> = {
  discriminator: 1,
  accounts: [['payer', SIGNER_WRITABLE], ['rentPayer', SIGNER_WRITABLE], ...openAccounts],
};
export const OLDER_OPEN: InstructionLayout<OpenAccount> = { discriminator: 1, accounts: [['payer', SIGNER_WRITABLE], ...openAccounts] };

export const SETTLE: InstructionLayout<'channel' | 'instructionsSysvar'> = {
  discriminator: 2,
  accounts: [
    ['channel', WRITABLE],
    ['instructionsSysvar', READONLY],
  ],
};

export const TOP_UP: InstructionLayout<'payer' | 'channel' | 'payerTokenAccount' | 'escrow' | 'mint' | 'tokenProgram'> = {
  discriminator: 3,
  accounts: [
    ['payer', SIGNER_WRITABLE],
    ['channel', WRITABLE],
    ['payerTokenAccount', WRITABLE],
    ['escrow', WRITABLE],
    ['mint', READONLY],
    ['tokenProgram', READONLY],
  ],
};

/** Named `settleAndFinalize` on the older program. */
export const SETTLE_AND_SEAL: InstructionLayout<'payee' | 'channel' | 'instructionsSysvar'> = {
  discriminator: 4,
  accounts: [
    ['payee', SIGNER],
    ['channel', WRITABLE],
    ['instructionsSysvar', READONLY],
  ],
};

export const REQUEST_CLOSE: InstructionLayout<'payer' | 'channel'> = {
  discriminator: 5,
  accounts: [
    ['payer', SIGNER],
    ['channel', WRITABLE],
  ],
};

/** Named `finalize` on the older program. */
export const SEAL: InstructionLayout<'channel'> = { discriminator: 6, accounts: [['channel', WRITABLE]] };

export const DISTRIBUTE: InstructionLayout<PayoutAccount> = {
  discriminator: 7,
  accounts: [['channel', WRITABLE], ['payer', WRITABLE], ['rentPayer', WRITABLE], ...payoutAccounts],
};
export const OLDER_DISTRIBUTE: InstructionLayout<PayoutAccount> = {
  discriminator: 7,
  accounts: [['channel', WRITABLE], ['payer', WRITABLE], ...payoutAccounts],
};

export const WITHDRAW_PAYER: InstructionLayout<'payer' | 'channel' | 'escrow' | 'payerTokenAccount' | 'mint' | 'tokenProgram'> = {
  discriminator: 8,
  accounts: [
    ['payer', SIGNER],
    ['channel', WRITABLE],
    ['escrow', WRITABLE],
    ['payerTokenAccount', WRITABLE],
    ['mint', READONLY],
    ['tokenProgram', READONLY],
  ],
};

/** Current program only. */
export const RECLAIM: InstructionLayout<'channel' | 'rentPayer'> = {
  discriminator: 9,
  accounts: [
    ['channel', WRITABLE],
    ['rentPayer', WRITABLE],
  ],
};
