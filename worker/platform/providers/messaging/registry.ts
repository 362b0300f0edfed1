import type { IdentityProvider } from '#rules/payment-terms.ts';
import { discord } from './discord.ts';
import type { MessagingPlatform } from './platform.ts';
import { telegram } from './telegram.ts';

/** Messaging platforms: a row each. */
export const PLATFORMS: Readonly<Record<IdentityProvider, MessagingPlatform>> = { telegram, discord };
