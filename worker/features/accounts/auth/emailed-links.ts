import { z } from '@hono/zod-openapi';
import { equalBytes, hmacSha256, macRing } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import { findState, takeState } from '../store.ts';

/** MACs of an emailed link under each email key, that of new links first. Links are not stored, so the database holds no secret. */
export const linkMacs = ({ config }: Ctx, ...signed: (string | number)[]): string[] =>
  macRing(config.EMAIL_LINK_KEYS).map((key) => base64url.encode(hmacSha256(key, utf8(signed.join('\0')))));

/** Compares the encoded text: each MAC has one spelling, so a non-canonical encoding does not match. */
export const isLinkMac = (ctx: Ctx, mac: string, ...signed: (string | number)[]): boolean =>
  linkMacs(ctx, ...signed).some((known) => equalBytes(utf8(known), utf8(mac)));

/** Uses up what this service signed, a link or a token, until it expires. False if it was used. */
export const spendLink = (ctx: Ctx, id: string, expiresAt: number): Promise<boolean> => takeState(globalOf(ctx).db, id, expiresAt);

export const isSpent = async (ctx: Ctx, id: string): Promise<boolean> => (await findState(globalOf(ctx).db, id)) !== undefined;

export const LinkToken = z.string().max(200).describe('Token from the email: the part after `#token=` in its link.');
export const LinkBody = z.object({ token: LinkToken }).openapi('LinkRequest');
