import { SECOND } from '#core/time.ts';

/** A picture for papers is no larger. */
export const PICTURE_BYTES_MAX = 200 * 1024;
const TIMEOUT_MS = 5 * SECOND;

/** What an address showed, or why it was nothing that can be kept, in words for the merchant who named it. */
type PictureAnswer = { bytes: Uint8Array } | { problem: string };

/** One sentence for a refusal, a status and silence, so that it tells no merchant what listens where. */
const UNREAD: PictureAnswer = { problem: 'no image could be read from the URL' };

/**
 * Reads a picture from a merchant's https address: no redirect followed, and never more read than it may have. What the bytes are is for the
 * caller to tell. Nothing throws: an address that cannot be read is a problem in words.
 */
export async function fetchPicture({ leftMs }: { leftMs(): number }, url: string): Promise<PictureAnswer> {
  try {
    const signal = AbortSignal.timeout(Math.min(TIMEOUT_MS, leftMs()));
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'image/png, image/jpeg' } });
    if (!response.ok) {
      await response.body?.cancel();
      return UNREAD;
    }
    return await readBounded(response);
  } catch {
    return UNREAD;
  }
}

async function readBounded(response: Response): Promise<PictureAnswer> {
  const bytes = new Uint8Array(PICTURE_BYTES_MAX);
  const reader = response.body?.getReader();
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    if (length + part.value.length > PICTURE_BYTES_MAX) {
      await reader!.cancel();
      return { problem: `the file is larger than ${PICTURE_BYTES_MAX / 1024} KB` };
    }
    bytes.set(part.value, length);
    length += part.value.length;
  }
  return { bytes: bytes.slice(0, length) };
}
