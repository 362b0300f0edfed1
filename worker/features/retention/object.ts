import { sha256Hex } from '#core/crypto.ts';
import type { Shard } from '#platform/context.ts';
import { inTime } from '#platform/deadline.ts';

/** Writes an object and reads it back. Throws if the bytes differ, so that no row leaves the database unarchived. */
export async function writeObject(ctx: Shard, bucket: R2Bucket, key: string, bytes: Uint8Array): Promise<void> {
  await inTime(ctx, () => bucket.put(key, bytes, { httpMetadata: { contentType: 'application/jsonl' } }));
  const stored = await inTime(ctx, async () => (await bucket.get(key))?.arrayBuffer());
  if (!stored || sha256Hex(new Uint8Array(stored)) !== sha256Hex(bytes)) throw new Error(`archive: ${key} does not read as it was written`);
}
