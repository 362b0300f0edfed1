/** Ticket of a sign-in that needs a second step, on its way from another page of this tab to the sign-in page. */
const KEY = 'svc:factor';

export interface AskedFactor {
  ticket: string;
  methods: readonly string[] | null;
}

export function passFactorTicket(asked: AskedFactor): boolean {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(asked));
    return true;
  } catch {
    return false;
  }
}

/** Reads the ticket once. */
export function takeFactorTicket(): AskedFactor | null {
  try {
    const asked = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<AskedFactor> | null;
    sessionStorage.removeItem(KEY);
    return typeof asked?.ticket === 'string'
      ? { ticket: asked.ticket, methods: Array.isArray(asked.methods) ? asked.methods : null }
      : null;
  } catch {
    return null;
  }
}
