import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'package:http/http.dart' as http;
import 'package:in_app_purchase/in_app_purchase.dart';
import 'package:shared_preferences/shared_preferences.dart';

/// The decision about a product. After `unchanged`, keep the current access and validate again later.
enum Access { granted, denied, unchanged }

/// Codes that prove that a purchase gives no access.
const deniedCodes = {6778001, 6778003, 6778004, 6778006};

/// Codes of a purchase that has ended: expired, refunded or consumed.
const endedCodes = {6778003, 6778004};

Access decideAccess(dynamic response, String productId) {
  if (response is! Map) return Access.unchanged;
  final data = response['data'];
  final purchases = data is Map ? data['collection'] : null;
  if (response['ok'] == true && purchases is List) {
    final hasAccess = purchases.any((purchase) => purchase['id'] == productId && purchase['isExpired'] != true);
    return hasAccess ? Access.granted : Access.denied;
  }
  return deniedCodes.contains(response['code']) ? Access.denied : Access.unchanged;
}

class PurchaseObserver {
  PurchaseObserver(this.username, this.types, this.preferences, this.onAccess);

  final String username;

  /// Product id to type: 'paid subscription', 'consumable' or 'non consumable'.
  final Map<String, String> types;

  /// Keeps decisions and evidence.
  final SharedPreferences preferences;
  final void Function(String productId, bool hasAccess) onAccess;

  final apiUrl = 'https://api.example.com';
  final credentials = base64.encode(utf8.encode('my-app:pub_key'));

  /// Call it once at each start of the app. `onAccess` gets the stored decisions first, which hold without a network.
  Future<StreamSubscription<List<PurchaseDetails>>> start() async {
    final subscription = InAppPurchase.instance.purchaseStream.listen((purchases) => purchases.forEach(handle));
    for (final productId in types.keys) {
      final stored = preferences.getString('$username $productId');
      if (stored == null) continue;
      final {'access': access, 'transaction': transaction} = jsonDecode(stored);
      onAccess(productId, access);
      // Google Play lists active purchases only, so an ended one is found by its stored evidence.
      if (access) await decide(productId, transaction);
    }
    await InAppPurchase.instance.restorePurchases();
    return subscription;
  }

  /// `account` is a UUID of the customer. For a consumable, call `buyConsumable` with `autoConsume: false`.
  Future<bool> buy(ProductDetails product, String account) => InAppPurchase.instance
      .buyNonConsumable(purchaseParam: PurchaseParam(productDetails: product, applicationUserName: account));

  Future<void> handle(PurchaseDetails purchase) async {
    // A payment in cash: the stream has the purchase again when it is paid.
    if (purchase.status == PurchaseStatus.pending) return;
    if (purchase.status == PurchaseStatus.purchased || purchase.status == PurchaseStatus.restored) {
      final id = purchase.productID;
      final evidence = purchase.verificationData.serverVerificationData;
      final response = await decide(
        id,
        Platform.isIOS
            ? {'type': 'store_a-signed', 'id': id, 'jwsRepresentation': evidence}
            : {'type': 'android-store', 'id': purchase.purchaseID, 'purchaseToken': evidence},
      );
      if (response is! Map || (response['ok'] != true && !endedCodes.contains(response['code']))) return;
    }
    if (purchase.pendingCompletePurchase) await InAppPurchase.instance.completePurchase(purchase);
  }

  Future<dynamic> decide(String productId, Map<String, dynamic> transaction) async {
    final response = await validate(productId, transaction).catchError((_) => null);
    final access = decideAccess(response, productId);
    if (access == Access.unchanged) return response;
    final stored = {'access': access == Access.granted, 'transaction': transaction};
    await preferences.setString('$username $productId', jsonEncode(stored));
    onAccess(productId, access == Access.granted);
    return response;
  }

  /// Throws without a network, and if the response is not JSON.
  Future<dynamic> validate(String productId, Map<String, dynamic> transaction) async {
    final response = await http
        .post(
          Uri.parse('$apiUrl/v1/validate'),
          headers: {'Authorization': 'Basic $credentials', 'Content-Type': 'application/json'},
          body: jsonEncode({
            'id': productId,
            'type': types[productId],
            'transaction': transaction,
            'additionalData': {'applicationUsername': username},
          }),
        )
        .timeout(const Duration(seconds: 30));
    return jsonDecode(response.body);
  }
}
