/** What a sign-in gives; it opens the account until `expires_at`. */
export interface Session {
  token: string;
  expires_at: string;
}
