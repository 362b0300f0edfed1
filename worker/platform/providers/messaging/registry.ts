import type { IdentityProvider } from '#rules/payment-terms.ts';
import { discord } from './discord.ts';
import type { MessagingPlatform } from './platform.ts';
import { telegram } from './telegram.ts';

export const PLATFORMS: Readonly<Record<IdentityProvider, MessagingPlatform>> = { telegram, discord };
