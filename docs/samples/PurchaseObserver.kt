import android.app.Activity
import android.content.Context
import android.os.Handler
import android.os.Looper
import android.util.Base64
import com.android.billingclient.api.*
import com.android.billingclient.api.BillingClient.ProductType
import org.json.JSONException
import org.json.JSONObject
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.Executors

/** The decision about a product. After UNCHANGED, keep the current access and validate again later. */
enum class Access { GRANTED, DENIED, UNCHANGED }

/** Codes that prove that a purchase gives no access. */
val deniedCodes = setOf(6778001, 6778003, 6778004, 6778006)

fun decideAccess(response: JSONObject?, productId: String): Access {
    val purchases = response?.optJSONObject("data")?.optJSONArray("collection")
    if (response?.opt("ok") == true && purchases != null) {
        val hasAccess = (0 until purchases.length())
            .map { purchases.getJSONObject(it) }
            .any { it.optString("id") == productId && !it.optBoolean("isExpired") }
        return if (hasAccess) Access.GRANTED else Access.DENIED
    }
    return if (deniedCodes.contains(response?.optInt("code"))) Access.DENIED else Access.UNCHANGED
}

class PurchaseValidator(private val username: String, private val apiUrl: String = "https://api.example.com") {
    private val credentials = Base64.encodeToString("my-app:pub_key".toByteArray(), Base64.NO_WRAP)

    /**
     * Decides about each product of a purchase. `type` is "paid subscription" for purchases of the product type SUBS, and
     * "consumable" or "non consumable" for INAPP. Call it on a background thread.
     */
    fun validate(purchase: Purchase, type: String): Map<String, Access> =
        purchase.products.associateWith { productId ->
            val response = try {
                send(purchase, productId, type)
            } catch (error: IOException) {
                null
            } catch (error: JSONException) {
                null
            }
            decideAccess(response, productId)
        }

    private fun send(purchase: Purchase, productId: String, type: String): JSONObject {
        val transaction = JSONObject()
            .put("type", "android-store")
            .put("id", purchase.orderId)
            .put("purchaseToken", purchase.purchaseToken)
        val body = JSONObject()
            .put("id", productId)
            .put("type", type)
            .put("transaction", transaction)
            .put("additionalData", JSONObject().put("applicationUsername", username))
        val connection = URL("$apiUrl/v1/validate").openConnection() as HttpURLConnection
        connection.connectTimeout = 10_000
        connection.readTimeout = 30_000
        connection.requestMethod = "POST"
        connection.setRequestProperty("Authorization", "Basic $credentials")
        connection.setRequestProperty("Content-Type", "application/json")
        connection.doOutput = true
        connection.outputStream.use { it.write(body.toString().toByteArray()) }
        return JSONObject(connection.inputStream.bufferedReader().use { it.readText() })
    }
}

/**
 * Buys, listens and restores. `types` maps product ids to types. Stores decisions and evidence in the preferences. Calls
 * `onAccess` on the main thread.
 */
class PurchaseObserver(
    context: Context,
    private val username: String,
    private val types: Map<String, String>,
    private val onAccess: (productId: String, hasAccess: Boolean) -> Unit,
) : PurchasesUpdatedListener, BillingClientStateListener {
    private val preferences = context.getSharedPreferences("purchases of $username", Context.MODE_PRIVATE)
    private val validator = PurchaseValidator(username)
    private val thread = Executors.newSingleThreadExecutor()
    private val mainThread = Handler(Looper.getMainLooper())
    private val client = BillingClient.newBuilder(context)
        .setListener(this)
        .enablePendingPurchases(PendingPurchasesParams.newBuilder().enableOneTimeProducts().build())
        .build()

    /** Call it at each start of the app. Without a network, the stored decisions hold. */
    fun start() {
        types.keys.filter(preferences::contains).forEach { onAccess(it, preferences.getBoolean(it, false)) }
        client.startConnection(this)
    }

    /** For a button "Restore purchases", too. Google Play lists active purchases only: evidence finds the others. */
    fun restore() {
        preferences.getStringSet("evidence", emptySet())!!.forEach { handle(Purchase(it, "")) }
        for (type in listOf(ProductType.SUBS, ProductType.INAPP)) {
            val query = QueryPurchasesParams.newBuilder().setProductType(type).build()
            client.queryPurchasesAsync(query) { _, purchases -> purchases.forEach(::handle) }
        }
    }

    fun buy(activity: Activity, product: ProductDetails, offerToken: String?, account: String) {
        val item = BillingFlowParams.ProductDetailsParams.newBuilder().setProductDetails(product)
        if (offerToken != null) item.setOfferToken(offerToken)
        val flow = BillingFlowParams.newBuilder().setProductDetailsParamsList(listOf(item.build()))
        client.launchBillingFlow(activity, flow.setObfuscatedAccountId(account).build())
    }

    override fun onBillingSetupFinished(result: BillingResult) = restore()

    override fun onBillingServiceDisconnected() = Unit

    override fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?) {
        purchases?.forEach(::handle)
    }

    private fun handle(purchase: Purchase) = thread.execute {
        // A payment in cash: Google Play delivers the purchase again when it is paid.
        if (purchase.purchaseState == Purchase.PurchaseState.PENDING) return@execute
        val type = types[purchase.products.first()] ?: return@execute
        val decisions = validator.validate(purchase, type).filterValues { it != Access.UNCHANGED }
        val hasAccess = decisions.containsValue(Access.GRANTED)
        val evidence = preferences.getStringSet("evidence", emptySet())!!
        val changed = if (hasAccess) evidence + purchase.originalJson else evidence - purchase.originalJson
        if (decisions.isEmpty()) return@execute
        val editor = preferences.edit().putStringSet("evidence", changed)
        decisions.forEach { (productId, access) -> editor.putBoolean(productId, access == Access.GRANTED) }
        editor.apply()
        mainThread.post { decisions.forEach { (productId, access) -> onAccess(productId, access == Access.GRANTED) } }
        if (hasAccess) finish(purchase, type)
    }

    private fun finish(purchase: Purchase, type: String) {
        val token = purchase.purchaseToken
        if (type == "consumable") client.consumeAsync(ConsumeParams.newBuilder().setPurchaseToken(token).build()) { _, _ -> }
        else if (!purchase.isAcknowledged)
            client.acknowledgePurchase(AcknowledgePurchaseParams.newBuilder().setPurchaseToken(token).build()) { }
    }
}
