import Link from 'next/link';

export default function Home() {
  return (
    <main>
      <h1>The Tide Club</h1>
      <p>Thirty days of tide tables for 5 USDC.</p>
      <form action="/join" method="post">
        <button type="submit">Join</button>
      </form>
      <Link href="/members" prefetch={false}>
        Members
      </Link>
    </main>
  );
}
