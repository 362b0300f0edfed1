/** How a session came by its channel. */
export interface Openings {
  /** Id of the challenge that the opener answered: only the caller who opened the session can show it. Null: not known. */
  openedBy: string | null;
}

export const NO_OPENINGS: Openings = { openedBy: null };
