const KEY = 'svc:email';
/** Same rule as the service's. */
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

export function storeReceiptEmail(email: string): void {
  typed = email.trim();
  try {
    if (typed === '') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, typed);
  } catch {
    // Without storage the address is used for this purchase only.
  }
}

export const receiptEmail = (): { email?: string } => {
  const email = readReceiptEmail();
  return EMAIL.test(email) && email.length <= 254 ? { email } : {};
};
