/**
 * Account lists of the subscriptions program, version 0.4.0, without optional trailing accounts.
 * @module
 */

import { type InstructionLayout, READONLY, SIGNER, SIGNER_WRITABLE, WRITABLE } from '../instruction-layout.ts';

const EVENT = [
  ['eventAuthority', READONLY],
  ['program', READONLY],
] as const;

/** Optional trailing account: the rent payer, signing. */
export const INIT_AUTHORITY: InstructionLayout<'user' | 'authority' | 'mint' | 'userTokenAccount' | 'systemProgram' | 'tokenProgram'> = {
  discriminator: 0,
  accounts: [
    ['user', SIGNER_WRITABLE],
    ['authority', WRITABLE],
    ['mint', READONLY],
    ['userTokenAccount', WRITABLE],
    ['systemProgram', READONLY],
    ['tokenProgram', READONLY],
  ],
};

/** Trailing accounts for a subscription: its plan, and the rent payer if not the signer. */
export const REVOKE: InstructionLayout<'signer' | 'subscription' | 'plan'> = {
  discriminator: 3,
  accounts: [
    ['signer', SIGNER_WRITABLE],
    ['subscription', WRITABLE],
    ['plan', READONLY],
  ],
};

/** Optional trailing account: the rent payer. */
export const CLOSE_AUTHORITY: InstructionLayout<'user' | 'authority'> = {
  discriminator: 6,
  accounts: [
    ['user', SIGNER_WRITABLE],
    ['authority', WRITABLE],
  ],
};

export const CREATE_PLAN: InstructionLayout<'owner' | 'plan' | 'mint' | 'systemProgram' | 'tokenProgram'> = {
  discriminator: 7,
  accounts: [
    ['owner', SIGNER_WRITABLE],
    ['plan', WRITABLE],
    ['mint', READONLY],
    ['systemProgram', READONLY],
    ['tokenProgram', READONLY],
  ],
};

export const UPDATE_PLAN: InstructionLayout<'owner' | 'plan' | 'eventAuthority' | 'program'> = {
  discriminator: 8,
  accounts: [['owner', SIGNER], ['plan', WRITABLE], ...EVENT],
};

export const DELETE_PLAN: InstructionLayout<'owner' | 'plan'> = {
  discriminator: 9,
  accounts: [
    ['owner', SIGNER_WRITABLE],
    ['plan', WRITABLE],
  ],
};

export const COLLECT: InstructionLayout<
  | 'subscription'
  | 'plan'
  | 'authority'
  | 'subscriberTokenAccount'
  | 'receiverTokenAccount'
  | 'puller'
  | 'mint'
  | 'tokenProgram'
  | 'eventAuthority'
  | 'program'
> = {
  discriminator: 10,
  accounts: [
    ['subscription', WRITABLE],
    ['plan', READONLY],
    ['authority', READONLY],
    ['subscriberTokenAccount', WRITABLE],
    ['receiverTokenAccount', WRITABLE],
    ['puller', SIGNER],
    ['mint', READONLY],
    ['tokenProgram', READONLY],
    ...EVENT,
  ],
};

/** Optional trailing account: the rent payer, signing. */
export const SUBSCRIBE: InstructionLayout<
  'subscriber' | 'owner' | 'plan' | 'subscription' | 'authority' | 'systemProgram' | 'eventAuthority' | 'program'
> = {
  discriminator: 11,
  accounts: [
    ['subscriber', SIGNER_WRITABLE],
    ['owner', READONLY],
    ['plan', READONLY],
    ['subscription', WRITABLE],
    ['authority', READONLY],
    ['systemProgram', READONLY],
    ...EVENT,
  ],
};

export const CANCEL: InstructionLayout<'subscriber' | 'plan' | 'subscription' | 'eventAuthority' | 'program'> = {
  discriminator: 12,
  accounts: [['subscriber', SIGNER], ['plan', READONLY], ['subscription', WRITABLE], ...EVENT],
};

export const RESUME: InstructionLayout<'subscriber' | 'plan' | 'subscription' | 'authority' | 'eventAuthority' | 'program'> = {
  discriminator: 13,
  accounts: [['subscriber', SIGNER], ['plan', READONLY], ['subscription', WRITABLE], ['authority', READONLY], ...EVENT],
};

/** Optional trailing account: the rent payer. */
export const REVOKE_AUTHORITY: InstructionLayout<'user' | 'userTokenAccount' | 'mint' | 'tokenProgram' | 'authority'> = {
  discriminator: 14,
  accounts: [
    ['user', SIGNER_WRITABLE],
    ['userTokenAccount', WRITABLE],
    ['mint', READONLY],
    ['tokenProgram', READONLY],
    ['authority', WRITABLE],
  ],
};
