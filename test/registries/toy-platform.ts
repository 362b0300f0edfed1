import { z } from '@hono/zod-openapi';
import type { Giving, MessagingPlatform, Removing } from '#platform/providers/messaging/platform.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';

export const asked: string[] = [];

/** Platform interface after its fields are added, with a queue bound under its own name. */
type ToyPlatform = Omit<MessagingPlatform, 'targetSchema' | 'queue'> & { targetSchema: z.ZodObject; queue: Uppercase<'toy'> };

const toy: ToyPlatform = {
  title: 'Toy',
  targetSchema: z.object({ provider: z.literal('toy'), room_id: z.string().regex(/^\d+$/) }),
  identity: {
    variables: [],
    link: (_config, id) => `https://toy.example.com/?${id}`,
    secrets: () => 'the-secret-of-the-connector-of-the-toy',
  },
  needs: [],
  queue: 'TOY',
  async give(_desk, { target, providerUserId, storeInvite }: Giving): Promise<PlatformAnswer> {
    await storeInvite(`https://toy.example.com/${target.room_id}`);
    asked.push(`give ${target.room_id} ${providerUserId}`);
    return { kind: 'done' };
  },
  async revokeInvite(_desk, { target }): Promise<PlatformAnswer> {
    asked.push(`uninvite ${target.room_id}`);
    return { kind: 'done' };
  },
  async removeMember(_desk, { target, providerUserId }: Removing): Promise<PlatformAnswer> {
    asked.push(`remove ${target.room_id} ${providerUserId}`);
    return { kind: 'done' };
  },
  check: async () => ({ ok: true, detail: 'It is a toy.', botUsername: 'toy' }),
};

export const toyPlatform = toy as unknown as MessagingPlatform;
