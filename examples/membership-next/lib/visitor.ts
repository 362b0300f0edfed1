import { cookies } from 'next/headers';

/** Returns the visitor's name. Your own sign-in goes here: whoever sets this cookie is that member. */
export async function readVisitor(): Promise<string | null> {
  return (await cookies()).get('user')?.value ?? null;
}
