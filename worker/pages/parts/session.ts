export interface Session {
  token: string;
  expires_at: string;
}
