import { z } from '@hono/zod-openapi';
import type { Giving, MessagingPlatform, Removing } from '#platform/providers/messaging/platform.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';

/** What the toy was asked to do. */
export const asked: string[] = [];

/** The interface as it is once the row of its fields is there: its queue is bound under its own name. */
type ToyPlatform = Omit<MessagingPlatform, 'place' | 'queue'> & { place: z.ZodObject; queue: Uppercase<'toy'> };

const toy: ToyPlatform = {
  title: 'Toy',
  place: z.object({ provider: z.literal('toy'), room_id: z.string().regex(/^\d+$/) }),
  identity: {
    variables: [],
    link: (_config, id) => `https://toy.example.com/?${id}`,
    secrets: () => 'the-secret-of-the-connector-of-the-toy',
  },
  needs: [],
  queue: 'TOY',
  async give(_desk, { place, providerUserId, keepInvite }: Giving): Promise<PlatformAnswer> {
    await keepInvite(`https://toy.example.com/${place.room_id}`);
    asked.push(`give ${place.room_id} ${providerUserId}`);
    return { kind: 'done' };
  },
  async revokeInvite(_desk, { place }): Promise<PlatformAnswer> {
    asked.push(`uninvite ${place.room_id}`);
    return { kind: 'done' };
  },
  async removeMember(_desk, { place, providerUserId }: Removing): Promise<PlatformAnswer> {
    asked.push(`remove ${place.room_id} ${providerUserId}`);
    return { kind: 'done' };
  },
  check: async () => ({ ok: true, detail: 'It is a toy.', botUsername: 'toy' }),
};

/** A messaging platform that lets everybody into its rooms. */
export const toyPlatform = toy as unknown as MessagingPlatform;
