import { formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const subscriptionReapproveLetter: Letter<LetterFacts['subscription_reapprove']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ slug }) => `/p/${slug}`,
  alsoPath: ({ authorization_id: id }) => `/s/${id}`,
  values: ({ product, seller, amount }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    amount: formatMoney(locale, amount),
  }),
  words: {
    en: {
      subject: '{product}: please approve again',
      lines: [
        'Your wallet no longer allows {amount} to be collected for {product}, sold by {seller}: the approval is gone, or belongs to another app now.',
        'Open the product’s page with the same wallet and approve again, and the subscription goes on. If you wanted it to end, there is nothing to do.',
      ],
      button: 'Approve again',
      also: 'See or cancel the subscription',
    },
    es: {
      subject: '{product}: apruebe de nuevo',
      lines: [
        'Su monedero ya no permite cobrar {amount} por {product}, vendido por {seller}: la aprobación ya no existe, o es de otra aplicación.',
        'Abra la página del producto con el mismo monedero y apruebe de nuevo, y la suscripción seguirá. Si quería que terminara, no tiene que hacer nada.',
      ],
      button: 'Aprobar de nuevo',
      also: 'Ver o cancelar la suscripción',
    },
    de: {
      subject: '{product}: bitte erneut freigeben',
      lines: [
        'Ihre Wallet erlaubt nicht mehr, {amount} für {product}, verkauft von {seller}, einzuziehen: Die Freigabe fehlt oder gehört jetzt einer anderen App.',
        'Öffnen Sie die Seite des Produkts mit derselben Wallet und geben Sie es erneut frei, dann läuft das Abonnement weiter. Sollte es enden, ist nichts zu tun.',
      ],
      button: 'Erneut freigeben',
      also: 'Abonnement ansehen oder kündigen',
    },
    fr: {
      subject: '{product} : une nouvelle approbation est nécessaire',
      lines: [
        'Votre portefeuille ne permet plus de prélever {amount} pour {product}, vendu par {seller} : l’approbation n’existe plus, ou appartient à une autre application.',
        'Ouvrez la page du produit avec le même portefeuille et approuvez de nouveau : l’abonnement continuera. Si vous vouliez y mettre fin, il n’y a rien à faire.',
      ],
      button: 'Approuver de nouveau',
      also: 'Voir ou annuler l’abonnement',
    },
    'pt-BR': {
      subject: '{product}: aprove novamente',
      lines: [
        'Sua carteira não permite mais cobrar {amount} por {product}, vendido por {seller}: a aprovação não existe mais, ou é de outro aplicativo.',
        'Abra a página do produto com a mesma carteira e aprove novamente, e a assinatura continua. Se você queria encerrá-la, não há nada a fazer.',
      ],
      button: 'Aprovar novamente',
      also: 'Ver ou cancelar a assinatura',
    },
    ja: {
      subject: '{product}: 再承認のお願い',
      lines: [
        '{seller}が販売する{product}の{amount}を、ウォレットから回収できなくなりました。承認が失われたか、別のアプリに置き換えられています。',
        '同じウォレットで商品ページを開き、もう一度承認すると継続されます。終了をご希望の場合は何もする必要はありません。',
      ],
      button: 'もう一度承認する',
      also: 'サブスクリプションを確認・解約する',
    },
  },
};
