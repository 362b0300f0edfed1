/** Address that a buyer's receipts go to, kept by this browser for the next purchase. */
const KEY = 'svc:email';
/** As the service takes it. */
const EMAIL = /^(?!\.)(?!.*\.\.)[a-z0-9_'+\-.]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/i;

let typed: string | null = null;

export function readReceiptEmail(): string {
  try {
    typed ??= localStorage.getItem(KEY) ?? '';
  } catch {
    typed ??= '';
  }
  return typed;
}

export function keepReceiptEmail(email: string): void {
  typed = email.trim();
  try {
    if (typed === '') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, typed);
  } catch {
    // A browser that keeps nothing sends it all the same.
  }
}

/** Part of a request body: nothing while no whole address stands in the field. */
export const receiptEmail = (): { email?: string } => {
  const email = readReceiptEmail();
  return EMAIL.test(email) && email.length <= 254 ? { email } : {};
};
