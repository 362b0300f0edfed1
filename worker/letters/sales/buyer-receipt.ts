import { formatInstant, formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const buyerReceiptLetter: Letter<LetterFacts['buyer_receipt']> = {
  pref: 'buyer_receipts',
  to: 'anyone',
  isOfMerchant: true,
  path: ({ receipt_id }) => `/r/${receipt_id}`,
  alsoPath: ({ authorization_id: id }) => (id === undefined ? null : `/s/${id}`),
  accent: ({ accent }) => accent,
  values: ({ product, seller, amount, platform, paid_at, access_until, help }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    amount: formatMoney(locale, amount),
    ...(platform === undefined ? {} : { platform }),
    paidAt: formatInstant(locale, paid_at, 'UTC'),
    ...(access_until === undefined ? {} : { until: formatInstant(locale, access_until, 'UTC') }),
    ...(help === undefined ? {} : { help: help.replace(/^mailto:/, '') }),
  }),
  words: {
    en: {
      subject: 'Your receipt: {product}',
      rows: {
        product: 'Product',
        amount: 'Amount',
        seller: 'Seller',
        paidAt: 'Paid on',
        until: 'Access until',
        help: 'Help from the seller',
      },
      lines: ['You paid {amount} for {product}, sold by {seller}.', 'The receipt is signed: anybody can check it.'],
      entry: [
        'How you get in: your invitation at {platform}, or your new role there, comes by itself within minutes, to the account that you showed when you bought.',
        'If nothing comes, look at the page you bought on, which shows the invitation too; if that does not help, write to {seller}.',
      ],
      button: 'Show the receipt',
      also: 'See or cancel the subscription',
    },
    es: {
      subject: 'Su recibo: {product}',
      rows: {
        product: 'Producto',
        amount: 'Importe',
        seller: 'Vendedor',
        paidAt: 'Pagado el',
        until: 'Acceso hasta',
        help: 'Ayuda del vendedor',
      },
      lines: ['Ha pagado {amount} por {product}, vendido por {seller}.', 'El recibo está firmado: cualquiera puede comprobarlo.'],
      entry: [
        'Cómo entrar: su invitación en {platform}, o su nuevo rol allí, llega sola en unos minutos a la cuenta que mostró al comprar.',
        'Si no llega nada, mire la página en la que compró, que también muestra la invitación; si no sirve, escriba a {seller}.',
      ],
      button: 'Ver el recibo',
      also: 'Ver o cancelar la suscripción',
    },
    de: {
      subject: 'Ihre Quittung: {product}',
      rows: {
        product: 'Produkt',
        amount: 'Betrag',
        seller: 'Verkäufer',
        paidAt: 'Bezahlt am',
        until: 'Zugang bis',
        help: 'Hilfe vom Verkäufer',
      },
      lines: ['Sie haben {amount} für {product} bezahlt, verkauft von {seller}.', 'Die Quittung ist signiert: Jeder kann sie prüfen.'],
      entry: [
        'So kommen Sie hinein: Ihre Einladung bei {platform} oder Ihre neue Rolle dort kommt binnen Minuten von selbst, an das Konto, das Sie beim Kauf gezeigt haben.',
        'Wenn nichts kommt, sehen Sie auf der Seite nach, auf der Sie gekauft haben: auch sie zeigt die Einladung. Hilft das nicht, schreiben Sie an {seller}.',
      ],
      button: 'Quittung zeigen',
      also: 'Abonnement ansehen oder kündigen',
    },
    fr: {
      subject: 'Votre reçu : {product}',
      rows: {
        product: 'Produit',
        amount: 'Montant',
        seller: 'Vendeur',
        paidAt: 'Payé le',
        until: 'Accès jusqu’au',
        help: 'Aide du vendeur',
      },
      lines: ['Vous avez payé {amount} pour {product}, vendu par {seller}.', 'Le reçu est signé : chacun peut le vérifier.'],
      entry: [
        'Pour entrer : votre invitation sur {platform}, ou votre nouveau rôle, arrive d’elle-même en quelques minutes sur le compte que vous avez montré à l’achat.',
        'Si rien n’arrive, regardez la page où vous avez acheté, qui montre aussi l’invitation ; si cela ne suffit pas, écrivez à {seller}.',
      ],
      button: 'Voir le reçu',
      also: 'Voir ou annuler l’abonnement',
    },
    'pt-BR': {
      subject: 'Seu recibo: {product}',
      rows: { product: 'Produto', amount: 'Valor', seller: 'Vendedor', paidAt: 'Pago em', until: 'Acesso até', help: 'Ajuda do vendedor' },
      lines: ['Você pagou {amount} por {product}, vendido por {seller}.', 'O recibo é assinado: qualquer pessoa pode conferi-lo.'],
      entry: [
        'Como entrar: seu convite no {platform}, ou seu novo cargo lá, chega sozinho em alguns minutos à conta que você mostrou ao comprar.',
        'Se nada chegar, veja a página em que você comprou, que também mostra o convite; se não ajudar, escreva para {seller}.',
      ],
      button: 'Ver o recibo',
      also: 'Ver ou cancelar a assinatura',
    },
    ja: {
      subject: '領収書: {product}',
      rows: { product: '商品', amount: '金額', seller: '販売者', paidAt: '支払日時', until: '利用期限', help: '販売者のヘルプ' },
      lines: ['{seller}が販売する{product}に{amount}をお支払いいただきました。', 'この領収書は署名されており、どなたでも確認できます。'],
      entry: [
        '参加方法：{platform}での招待または新しいロールは、購入時に示したアカウントへ数分以内に自動で届きます。',
        '届かない場合は、購入したページにも招待が表示されます。それでも解決しないときは、{seller}にご連絡ください。',
      ],
      button: '領収書を見る',
      also: 'サブスクリプションを確認・解約する',
    },
  },
};
