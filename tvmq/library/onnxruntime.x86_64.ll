; aa5899612a91ff6b10293856b1e6484c0ad520d788a88013ee290bb17ad9274f is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'onnxruntime.c'
source_filename = "onnxruntime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.ort_op = type { i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, [4 x ptr], ptr, ptr, ptr, [2 x ptr] }
%struct.text = type { i64, [512 x i8] }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.ort_api_base = type { ptr, ptr }
%struct.ort_api = type { ptr, [25 x ptr], ptr, ptr, ptr, [22 x ptr], ptr, [9 x ptr], ptr, ptr, [2 x ptr], ptr, [9 x ptr], ptr, ptr, ptr, ptr, [7 x ptr], ptr, ptr, [2 x ptr], ptr, ptr, ptr, ptr, [5 x ptr], ptr, ptr, ptr, [172 x ptr], ptr }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.kernel = type { ptr, ptr, i32, [8 x ptr] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.run = type { ptr, ptr, %struct.model_description, ptr, ptr, ptr, ptr, ptr }
%struct.block = type { ptr, i64 }
%struct.model_buffer = type { ptr, i64 }
%struct.job = type { ptr, ptr }

@.str = private unnamed_addr constant [58 x i8] c"the library needs onnxruntime 1.17 or newer, and this is \00", align 1
@owner = internal unnamed_addr global ptr null, align 8
@kept_domain = internal global ptr null, align 8
@model_op = internal constant %struct.ort_op { i32 17, ptr null, ptr @get_name, ptr @get_provider, ptr @get_input_type, ptr @count_inputs, ptr @get_output_type, ptr @count_outputs, ptr null, ptr @destroy_kernel, ptr @get_zero, ptr @get_zero, ptr @get_zero, [4 x ptr] zeroinitializer, ptr @create_kernel, ptr @compute, ptr null, [2 x ptr] zeroinitializer }, align 8
@type_number.names = internal unnamed_addr constant [14 x [8 x i8]] [[8 x i8] zeroinitializer, [8 x i8] c"float32\00", [8 x i8] c"uint8\00\00\00", [8 x i8] c"int8\00\00\00\00", [8 x i8] c"uint16\00\00", [8 x i8] c"int16\00\00\00", [8 x i8] c"int32\00\00\00", [8 x i8] c"int64\00\00\00", [8 x i8] zeroinitializer, [8 x i8] c"bool\00\00\00\00", [8 x i8] c"float16\00", [8 x i8] c"float64\00", [8 x i8] c"uint32\00\00", [8 x i8] c"uint64\00\00"], align 16
@.str.3 = private unnamed_addr constant [35 x i8] c"it has too many dynamic dimensions\00", align 1
@.str.4 = private unnamed_addr constant [39 x i8] c"onnxruntime has no memory for a kernel\00", align 1
@.str.5 = private unnamed_addr constant [11 x i8] c"model_hash\00", align 1
@.str.6 = private unnamed_addr constant [123 x i8] c"the ONNX file and the library are of different exports, or the node has no attribute model_hash; take both from one folder\00", align 1
@.str.7 = private unnamed_addr constant [6 x i8] c"tasks\00", align 1
@.str.9 = private unnamed_addr constant [11 x i8] c"no integer\00", align 1
@.str.10 = private unnamed_addr constant [12 x i8] c"the number \00", align 1
@.str.11 = private unnamed_addr constant [44 x i8] c" as attribute tasks; give it one from 1 to \00", align 1
@.str.14 = private unnamed_addr constant [22 x i8] c" and the model takes \00", align 1
@.str.18 = private unnamed_addr constant [7 x i8] c", ...]\00", align 1
@.str.19 = private unnamed_addr constant [2 x i8] c"]\00", align 1
@.str.20 = private unnamed_addr constant [36 x i8] c"onnxruntime has no memory for a run\00", align 1

; Function Attrs: nounwind
define ptr @RegisterCustomOps(ptr noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.text, align 8
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca ptr, align 8
  %7 = alloca %struct.text, align 8
  %8 = getelementptr inbounds %struct.ort_api_base, ptr %1, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = tail call ptr %9() #8
  %11 = load i8, ptr %10, align 1
  %12 = add i8 %11, -48
  %13 = icmp ult i8 %12, 10
  br i1 %13, label %14, label %26

14:                                               ; preds = %2, %14
  %15 = phi i32 [ %22, %14 ], [ 0, %2 ]
  %16 = phi i8 [ %23, %14 ], [ %11, %2 ]
  %17 = phi ptr [ %20, %14 ], [ %10, %2 ]
  %18 = zext i8 %16 to i32
  %19 = mul i32 %15, 10
  %20 = getelementptr inbounds i8, ptr %17, i64 1
  %21 = add i32 %19, -48
  %22 = add i32 %21, %18
  %23 = load i8, ptr %20, align 1
  %24 = add i8 %23, -48
  %25 = icmp ult i8 %24, 10
  br i1 %25, label %14, label %26, !llvm.loop !2

26:                                               ; preds = %14, %2
  %27 = phi i32 [ 0, %2 ], [ %22, %14 ]
  %28 = phi ptr [ %10, %2 ], [ %20, %14 ]
  %29 = phi i8 [ %11, %2 ], [ %23, %14 ]
  %30 = icmp ne i8 %29, 0
  %31 = zext i1 %30 to i64
  %32 = getelementptr i8, ptr %28, i64 %31
  %33 = load i8, ptr %32, align 1
  %34 = add i8 %33, -48
  %35 = icmp ult i8 %34, 10
  br i1 %35, label %36, label %48

36:                                               ; preds = %26, %36
  %37 = phi i32 [ %44, %36 ], [ 0, %26 ]
  %38 = phi i8 [ %45, %36 ], [ %33, %26 ]
  %39 = phi ptr [ %42, %36 ], [ %32, %26 ]
  %40 = zext i8 %38 to i32
  %41 = mul i32 %37, 10
  %42 = getelementptr inbounds i8, ptr %39, i64 1
  %43 = add i32 %41, -48
  %44 = add i32 %43, %40
  %45 = load i8, ptr %42, align 1
  %46 = add i8 %45, -48
  %47 = icmp ult i8 %46, 10
  br i1 %47, label %36, label %48, !llvm.loop !2

48:                                               ; preds = %36, %26
  %49 = phi i32 [ 0, %26 ], [ %44, %36 ]
  %50 = icmp ugt i32 %27, 1
  %51 = icmp eq i32 %27, 1
  %52 = icmp ugt i32 %49, 16
  %53 = select i1 %51, i1 %52, i1 false
  %54 = select i1 %50, i1 true, i1 %53
  br i1 %54, label %56, label %55

55:                                               ; preds = %48
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  br label %60

56:                                               ; preds = %48
  %57 = load ptr, ptr %1, align 8
  %58 = tail call ptr %57(i32 noundef 17) #8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  %59 = icmp eq ptr %58, null
  br i1 %59, label %60, label %152

60:                                               ; preds = %55, %56
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %7, align 8
  %61 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %62 = load ptr, ptr %5, align 8
  %63 = load i8, ptr %62, align 1
  %64 = icmp eq i8 %63, 0
  br i1 %64, label %78, label %65

65:                                               ; preds = %60, %70
  %66 = phi i8 [ %74, %70 ], [ %63, %60 ]
  %67 = phi ptr [ %71, %70 ], [ %62, %60 ]
  %68 = load i64, ptr %7, align 8
  %69 = icmp ult i64 %68, 511
  br i1 %69, label %70, label %78

70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %67, i64 1
  %72 = add nuw nsw i64 %68, 1
  store i64 %72, ptr %7, align 8
  %73 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %68
  store i8 %66, ptr %73, align 1
  %74 = load i8, ptr %71, align 1
  %75 = icmp eq i8 %74, 0
  br i1 %75, label %76, label %65, !llvm.loop !4

76:                                               ; preds = %70
  %77 = load i64, ptr %7, align 8
  br label %78

78:                                               ; preds = %65, %76, %60
  %79 = phi i64 [ 0, %60 ], [ %77, %76 ], [ %68, %65 ]
  %80 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %79
  store i8 0, ptr %80, align 1
  %81 = load i64, ptr %7, align 8
  %82 = icmp ult i64 %81, 511
  br i1 %82, label %83, label %92

83:                                               ; preds = %78
  %84 = add nuw nsw i64 %81, 1
  store i64 %84, ptr %7, align 8
  %85 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %81
  store i8 58, ptr %85, align 1
  %86 = load i64, ptr %7, align 8
  %87 = icmp ult i64 %86, 511
  br i1 %87, label %88, label %92

88:                                               ; preds = %83
  %89 = add nuw nsw i64 %86, 1
  store i64 %89, ptr %7, align 8
  %90 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %86
  store i8 32, ptr %90, align 1
  %91 = load i64, ptr %7, align 8
  br label %92

92:                                               ; preds = %78, %83, %88
  %93 = phi i64 [ %91, %88 ], [ %86, %83 ], [ %81, %78 ]
  %94 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  br label %95

95:                                               ; preds = %112, %92
  %96 = phi i8 [ 116, %92 ], [ %118, %112 ]
  %97 = phi ptr [ @.str, %92 ], [ %115, %112 ]
  %98 = load i64, ptr %7, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %122

100:                                              ; preds = %95
  %101 = add nuw nsw i64 %98, 1
  store i64 %101, ptr %7, align 8
  %102 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %98
  store i8 %96, ptr %102, align 1
  %103 = load i64, ptr %7, align 8
  %104 = icmp ult i64 %103, 511
  br i1 %104, label %105, label %122

105:                                              ; preds = %100
  %106 = getelementptr inbounds i8, ptr %97, i64 1
  %107 = load i8, ptr %106, align 1
  %108 = add nuw nsw i64 %103, 1
  store i64 %108, ptr %7, align 8
  %109 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %103
  store i8 %107, ptr %109, align 1
  %110 = load i64, ptr %7, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %122

112:                                              ; preds = %105
  %113 = getelementptr inbounds i8, ptr %97, i64 2
  %114 = load i8, ptr %113, align 1
  %115 = getelementptr inbounds i8, ptr %97, i64 3
  %116 = add nuw nsw i64 %110, 1
  store i64 %116, ptr %7, align 8
  %117 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %110
  store i8 %114, ptr %117, align 1
  %118 = load i8, ptr %115, align 1
  %119 = icmp eq ptr %115, getelementptr inbounds ([58 x i8], ptr @.str, i64 0, i64 57)
  br i1 %119, label %120, label %95, !llvm.loop !4

120:                                              ; preds = %112
  %121 = load i64, ptr %7, align 8
  br label %122

122:                                              ; preds = %95, %100, %105, %120
  %123 = phi i64 [ %121, %120 ], [ %98, %95 ], [ %103, %100 ], [ %110, %105 ]
  %124 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %123
  store i8 0, ptr %124, align 1
  %125 = load ptr, ptr %8, align 8
  %126 = call ptr %125() #8
  %127 = load i8, ptr %126, align 1
  %128 = icmp eq i8 %127, 0
  br i1 %128, label %140, label %129

129:                                              ; preds = %122, %134
  %130 = phi i8 [ %138, %134 ], [ %127, %122 ]
  %131 = phi ptr [ %135, %134 ], [ %126, %122 ]
  %132 = load i64, ptr %7, align 8
  %133 = icmp ult i64 %132, 511
  br i1 %133, label %134, label %140

134:                                              ; preds = %129
  %135 = getelementptr inbounds i8, ptr %131, i64 1
  %136 = add nuw nsw i64 %132, 1
  store i64 %136, ptr %7, align 8
  %137 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %132
  store i8 %130, ptr %137, align 1
  %138 = load i8, ptr %135, align 1
  %139 = icmp eq i8 %138, 0
  br i1 %139, label %140, label %129, !llvm.loop !4

140:                                              ; preds = %129, %134, %122
  %141 = load i64, ptr %7, align 8
  %142 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %141
  store i8 0, ptr %142, align 1
  %143 = load ptr, ptr %1, align 8
  %144 = call ptr %143(i32 noundef 1) #8
  %145 = icmp eq ptr %144, null
  br i1 %145, label %150, label %146

146:                                              ; preds = %140
  %147 = load ptr, ptr %144, align 8
  %148 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1
  %149 = call ptr %147(i32 noundef 9, ptr noundef nonnull %148) #8
  br label %150

150:                                              ; preds = %140, %146
  %151 = phi ptr [ %149, %146 ], [ null, %140 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %7) #9
  br label %206

152:                                              ; preds = %56
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %3) #9
  %153 = load atomic i64, ptr @owner acquire, align 8
  %154 = inttoptr i64 %153 to ptr
  %155 = icmp eq ptr %58, %154
  br i1 %155, label %156, label %158

156:                                              ; preds = %152
  %157 = load ptr, ptr @kept_domain, align 8
  store ptr %157, ptr %6, align 8
  br label %201

158:                                              ; preds = %152
  %159 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 0
  store <4 x i8> <i8 116, i8 118, i8 109, i8 113>, ptr %159, align 8
  %160 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 4
  store i8 46, ptr %160, align 4
  store i64 5, ptr %3, align 8
  %161 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 5
  store i8 0, ptr %161, align 1
  %162 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %163 = load ptr, ptr %4, align 8
  %164 = load i8, ptr %163, align 1
  %165 = icmp eq i8 %164, 0
  br i1 %165, label %179, label %166

166:                                              ; preds = %158, %171
  %167 = phi i8 [ %175, %171 ], [ %164, %158 ]
  %168 = phi ptr [ %172, %171 ], [ %163, %158 ]
  %169 = load i64, ptr %3, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %179

171:                                              ; preds = %166
  %172 = getelementptr inbounds i8, ptr %168, i64 1
  %173 = add nuw nsw i64 %169, 1
  store i64 %173, ptr %3, align 8
  %174 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %169
  store i8 %167, ptr %174, align 1
  %175 = load i8, ptr %172, align 1
  %176 = icmp eq i8 %175, 0
  br i1 %176, label %177, label %166, !llvm.loop !4

177:                                              ; preds = %171
  %178 = load i64, ptr %3, align 8
  br label %179

179:                                              ; preds = %166, %177, %158
  %180 = phi i64 [ 5, %158 ], [ %178, %177 ], [ %169, %166 ]
  %181 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %180
  store i8 0, ptr %181, align 1
  %182 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 2
  %183 = load ptr, ptr %182, align 8
  %184 = call ptr %183(ptr noundef nonnull %159, ptr noundef nonnull %6) #8
  %185 = icmp eq ptr %184, null
  br i1 %185, label %186, label %199

186:                                              ; preds = %179
  %187 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 3
  %188 = load ptr, ptr %187, align 8
  %189 = load ptr, ptr %6, align 8
  %190 = call ptr %188(ptr noundef %189, ptr noundef nonnull @model_op) #8
  %191 = icmp eq ptr %190, null
  br i1 %191, label %192, label %199

192:                                              ; preds = %186
  %193 = load ptr, ptr %6, align 8
  %194 = ptrtoint ptr %193 to i64
  %195 = cmpxchg ptr @kept_domain, i64 0, i64 %194 acq_rel monotonic, align 8
  %196 = extractvalue { i64, i1 } %195, 1
  br i1 %196, label %197, label %201

197:                                              ; preds = %192
  %198 = ptrtoint ptr %58 to i64
  store atomic i64 %198, ptr @owner release, align 8
  br label %201

199:                                              ; preds = %179, %186
  %200 = phi ptr [ %190, %186 ], [ %184, %179 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  br label %206

201:                                              ; preds = %156, %197, %192
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %202 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 4
  %203 = load ptr, ptr %202, align 8
  %204 = load ptr, ptr %6, align 8
  %205 = call ptr %203(ptr noundef %0, ptr noundef %204) #8
  br label %206

206:                                              ; preds = %199, %201, %150
  %207 = phi ptr [ %151, %150 ], [ %205, %201 ], [ %200, %199 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  ret ptr %207
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2

declare i32 @model_describe(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal ptr @get_name(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = load ptr, ptr %2, align 8
  ret ptr %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal noalias ptr @get_provider(ptr nocapture readnone %0) #4 {
  ret ptr null
}

; Function Attrs: nounwind
define internal i32 @get_input_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_input(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_inputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 6
  %5 = load i32, ptr %4, align 4
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal i32 @get_output_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_output(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_outputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 7
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal void @destroy_kernel(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  %3 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %29, label %18

6:                                                ; preds = %119, %123, %130
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds %struct.ort_api, ptr %7, i64 0, i32 14
  %9 = load ptr, ptr %8, align 8
  %10 = load ptr, ptr %2, align 8
  %11 = tail call ptr %9(ptr noundef %10, ptr noundef nonnull %0) #8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %17, label %13

13:                                               ; preds = %6
  %14 = load ptr, ptr %0, align 8
  %15 = getelementptr inbounds %struct.ort_api, ptr %14, i64 0, i32 24
  %16 = load ptr, ptr %15, align 8
  tail call void %16(ptr noundef nonnull %11) #8
  br label %17

17:                                               ; preds = %6, %13
  ret void

18:                                               ; preds = %1
  %19 = load ptr, ptr %0, align 8
  %20 = getelementptr inbounds %struct.ort_api, ptr %19, i64 0, i32 14
  %21 = load ptr, ptr %20, align 8
  %22 = load ptr, ptr %2, align 8
  %23 = tail call ptr %21(ptr noundef %22, ptr noundef nonnull %4) #8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %29, label %25

25:                                               ; preds = %18
  %26 = load ptr, ptr %0, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %26, i64 0, i32 24
  %28 = load ptr, ptr %27, align 8
  tail call void %28(ptr noundef nonnull %23) #8
  br label %29

29:                                               ; preds = %1, %18, %25
  %30 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %44, label %33

33:                                               ; preds = %29
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %34, i64 0, i32 14
  %36 = load ptr, ptr %35, align 8
  %37 = load ptr, ptr %2, align 8
  %38 = tail call ptr %36(ptr noundef %37, ptr noundef nonnull %31) #8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %44, label %40

40:                                               ; preds = %33
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds %struct.ort_api, ptr %41, i64 0, i32 24
  %43 = load ptr, ptr %42, align 8
  tail call void %43(ptr noundef nonnull %38) #8
  br label %44

44:                                               ; preds = %40, %33, %29
  %45 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, null
  br i1 %47, label %59, label %48

48:                                               ; preds = %44
  %49 = load ptr, ptr %0, align 8
  %50 = getelementptr inbounds %struct.ort_api, ptr %49, i64 0, i32 14
  %51 = load ptr, ptr %50, align 8
  %52 = load ptr, ptr %2, align 8
  %53 = tail call ptr %51(ptr noundef %52, ptr noundef nonnull %46) #8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %48
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 24
  %58 = load ptr, ptr %57, align 8
  tail call void %58(ptr noundef nonnull %53) #8
  br label %59

59:                                               ; preds = %55, %48, %44
  %60 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %61 = load ptr, ptr %60, align 8
  %62 = icmp eq ptr %61, null
  br i1 %62, label %74, label %63

63:                                               ; preds = %59
  %64 = load ptr, ptr %0, align 8
  %65 = getelementptr inbounds %struct.ort_api, ptr %64, i64 0, i32 14
  %66 = load ptr, ptr %65, align 8
  %67 = load ptr, ptr %2, align 8
  %68 = tail call ptr %66(ptr noundef %67, ptr noundef nonnull %61) #8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %74, label %70

70:                                               ; preds = %63
  %71 = load ptr, ptr %0, align 8
  %72 = getelementptr inbounds %struct.ort_api, ptr %71, i64 0, i32 24
  %73 = load ptr, ptr %72, align 8
  tail call void %73(ptr noundef nonnull %68) #8
  br label %74

74:                                               ; preds = %70, %63, %59
  %75 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %76, null
  br i1 %77, label %89, label %78

78:                                               ; preds = %74
  %79 = load ptr, ptr %0, align 8
  %80 = getelementptr inbounds %struct.ort_api, ptr %79, i64 0, i32 14
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %2, align 8
  %83 = tail call ptr %81(ptr noundef %82, ptr noundef nonnull %76) #8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %78
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 24
  %88 = load ptr, ptr %87, align 8
  tail call void %88(ptr noundef nonnull %83) #8
  br label %89

89:                                               ; preds = %85, %78, %74
  %90 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %104, label %93

93:                                               ; preds = %89
  %94 = load ptr, ptr %0, align 8
  %95 = getelementptr inbounds %struct.ort_api, ptr %94, i64 0, i32 14
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %2, align 8
  %98 = tail call ptr %96(ptr noundef %97, ptr noundef nonnull %91) #8
  %99 = icmp eq ptr %98, null
  br i1 %99, label %104, label %100

100:                                              ; preds = %93
  %101 = load ptr, ptr %0, align 8
  %102 = getelementptr inbounds %struct.ort_api, ptr %101, i64 0, i32 24
  %103 = load ptr, ptr %102, align 8
  tail call void %103(ptr noundef nonnull %98) #8
  br label %104

104:                                              ; preds = %100, %93, %89
  %105 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %106 = load ptr, ptr %105, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:                                              ; preds = %104
  %109 = load ptr, ptr %0, align 8
  %110 = getelementptr inbounds %struct.ort_api, ptr %109, i64 0, i32 14
  %111 = load ptr, ptr %110, align 8
  %112 = load ptr, ptr %2, align 8
  %113 = tail call ptr %111(ptr noundef %112, ptr noundef nonnull %106) #8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %119, label %115

115:                                              ; preds = %108
  %116 = load ptr, ptr %0, align 8
  %117 = getelementptr inbounds %struct.ort_api, ptr %116, i64 0, i32 24
  %118 = load ptr, ptr %117, align 8
  tail call void %118(ptr noundef nonnull %113) #8
  br label %119

119:                                              ; preds = %115, %108, %104
  %120 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %121, null
  br i1 %122, label %6, label %123

123:                                              ; preds = %119
  %124 = load ptr, ptr %0, align 8
  %125 = getelementptr inbounds %struct.ort_api, ptr %124, i64 0, i32 14
  %126 = load ptr, ptr %125, align 8
  %127 = load ptr, ptr %2, align 8
  %128 = tail call ptr %126(ptr noundef %127, ptr noundef nonnull %121) #8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %6, label %130

130:                                              ; preds = %123
  %131 = load ptr, ptr %0, align 8
  %132 = getelementptr inbounds %struct.ort_api, ptr %131, i64 0, i32 24
  %133 = load ptr, ptr %132, align 8
  tail call void %133(ptr noundef nonnull %128) #8
  br label %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal i32 @get_zero(ptr nocapture readnone %0, i64 %1) #4 {
  ret i32 0
}

; Function Attrs: nounwind
define internal ptr @create_kernel(ptr nocapture readnone %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #0 {
  %5 = alloca [24 x i8], align 16
  %6 = alloca [24 x i8], align 16
  %7 = alloca %struct.model_description, align 8
  %8 = alloca %struct.text, align 8
  %9 = alloca i64, align 8
  %10 = alloca %struct.model_description, align 8
  %11 = alloca [128 x i8], align 16
  %12 = alloca i64, align 8
  %13 = alloca ptr, align 8
  %14 = alloca %struct.model_description, align 8
  %15 = alloca %struct.model_description, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %13) #9
  store ptr null, ptr %13, align 8
  %16 = call i32 @model_describe(ptr noundef nonnull %14) #8
  %17 = getelementptr inbounds %struct.model_description, ptr %14, i64 0, i32 3
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %20, label %26

20:                                               ; preds = %4
  %21 = call i32 @model_init() #8
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %26, label %23

23:                                               ; preds = %20
  %24 = call ptr @model_status_text(i32 noundef %21) #8
  %25 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef %24) #10
  br label %309

26:                                               ; preds = %4, %20
  %27 = call i32 @model_describe(ptr noundef nonnull %15) #8
  %28 = getelementptr inbounds %struct.model_description, ptr %15, i64 0, i32 8
  %29 = load i32, ptr %28, align 4
  %30 = icmp ugt i32 %29, 256
  br i1 %30, label %31, label %33

31:                                               ; preds = %26
  %32 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef nonnull @.str.3) #10
  br label %309

33:                                               ; preds = %26
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %10) #9
  %34 = call i32 @model_describe(ptr noundef nonnull %10) #8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store i64 128, ptr %12, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 19
  %36 = load ptr, ptr %35, align 8
  %37 = call ptr %36(ptr noundef %2, ptr noundef nonnull @.str.5, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %39, label %61

39:                                               ; preds = %33
  %40 = getelementptr inbounds %struct.model_description, ptr %10, i64 0, i32 1
  %41 = load ptr, ptr %40, align 8
  %42 = load i8, ptr %11, align 16
  %43 = icmp eq i8 %42, 0
  br i1 %43, label %55, label %44

44:                                               ; preds = %39, %50
  %45 = phi i8 [ %53, %50 ], [ %42, %39 ]
  %46 = phi ptr [ %52, %50 ], [ %41, %39 ]
  %47 = phi ptr [ %51, %50 ], [ %11, %39 ]
  %48 = load i8, ptr %46, align 1
  %49 = icmp eq i8 %45, %48
  br i1 %49, label %50, label %55

50:                                               ; preds = %44
  %51 = getelementptr inbounds i8, ptr %47, i64 1
  %52 = getelementptr inbounds i8, ptr %46, i64 1
  %53 = load i8, ptr %51, align 1
  %54 = icmp eq i8 %53, 0
  br i1 %54, label %55, label %44, !llvm.loop !5

55:                                               ; preds = %50, %44, %39
  %56 = phi ptr [ %41, %39 ], [ %52, %50 ], [ %46, %44 ]
  %57 = phi i8 [ 0, %39 ], [ 0, %50 ], [ %45, %44 ]
  %58 = load i8, ptr %56, align 1
  %59 = icmp eq i8 %57, %58
  br i1 %59, label %60, label %64

60:                                               ; preds = %55
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  br label %67

61:                                               ; preds = %33
  %62 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %63 = load ptr, ptr %62, align 8
  call void %63(ptr noundef nonnull %37) #8
  br label %64

64:                                               ; preds = %55, %61
  %65 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 2, ptr noundef nonnull @.str.6) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  %66 = icmp eq ptr %65, null
  br i1 %66, label %67, label %309

67:                                               ; preds = %60, %64
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %68 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 18
  %69 = load ptr, ptr %68, align 8
  %70 = call ptr %69(ptr noundef %2, ptr noundef nonnull @.str.7, ptr noundef nonnull %9) #8
  %71 = icmp eq ptr %70, null
  br i1 %71, label %77, label %72

72:                                               ; preds = %67
  %73 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %74 = load ptr, ptr %73, align 8
  call void %74(ptr noundef nonnull %70) #8
  %75 = load i64, ptr %9, align 8
  %76 = trunc i64 %75 to i32
  br label %83

77:                                               ; preds = %67
  %78 = load i64, ptr %9, align 8
  %79 = trunc i64 %78 to i32
  %80 = add i64 %78, -1
  %81 = icmp ult i64 %80, 64
  br i1 %81, label %82, label %83

82:                                               ; preds = %77
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  br label %287

83:                                               ; preds = %77, %72
  %84 = phi i32 [ %79, %77 ], [ %76, %72 ]
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %7)
  store i64 0, ptr %8, align 8
  %85 = call i32 @model_describe(ptr noundef nonnull %7) #8
  %86 = load ptr, ptr %7, align 8
  %87 = load i8, ptr %86, align 1
  %88 = icmp eq i8 %87, 0
  br i1 %88, label %100, label %89

89:                                               ; preds = %83, %94
  %90 = phi i8 [ %98, %94 ], [ %87, %83 ]
  %91 = phi ptr [ %95, %94 ], [ %86, %83 ]
  %92 = load i64, ptr %8, align 8
  %93 = icmp ult i64 %92, 511
  br i1 %93, label %94, label %100

94:                                               ; preds = %89
  %95 = getelementptr inbounds i8, ptr %91, i64 1
  %96 = add nuw nsw i64 %92, 1
  store i64 %96, ptr %8, align 8
  %97 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %92
  store i8 %90, ptr %97, align 1
  %98 = load i8, ptr %95, align 1
  %99 = icmp eq i8 %98, 0
  br i1 %99, label %100, label %89, !llvm.loop !4

100:                                              ; preds = %94, %89, %83
  %101 = load i64, ptr %8, align 8
  %102 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %101
  store i8 0, ptr %102, align 1
  %103 = load i64, ptr %8, align 8
  %104 = icmp ult i64 %103, 511
  br i1 %104, label %105, label %114

105:                                              ; preds = %100
  %106 = add nuw nsw i64 %103, 1
  store i64 %106, ptr %8, align 8
  %107 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %103
  store i8 58, ptr %107, align 1
  %108 = load i64, ptr %8, align 8
  %109 = icmp ult i64 %108, 511
  br i1 %109, label %110, label %114

110:                                              ; preds = %105
  %111 = add nuw nsw i64 %108, 1
  store i64 %111, ptr %8, align 8
  %112 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %108
  store i8 32, ptr %112, align 1
  %113 = load i64, ptr %8, align 8
  br label %114

114:                                              ; preds = %110, %105, %100
  %115 = phi i64 [ %113, %110 ], [ %108, %105 ], [ %103, %100 ]
  %116 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %115
  store i8 0, ptr %116, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %7)
  %117 = load i64, ptr %8, align 8
  %118 = icmp ult i64 %117, 511
  br i1 %118, label %119, label %183

119:                                              ; preds = %114
  %120 = add nuw nsw i64 %117, 1
  store i64 %120, ptr %8, align 8
  %121 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %117
  store i8 116, ptr %121, align 1
  %122 = load i64, ptr %8, align 8
  %123 = icmp ult i64 %122, 511
  br i1 %123, label %124, label %183

124:                                              ; preds = %119
  %125 = add nuw nsw i64 %122, 1
  store i64 %125, ptr %8, align 8
  %126 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %122
  store i8 104, ptr %126, align 1
  %127 = load i64, ptr %8, align 8
  %128 = icmp ult i64 %127, 511
  br i1 %128, label %129, label %183

129:                                              ; preds = %124
  %130 = add nuw nsw i64 %127, 1
  store i64 %130, ptr %8, align 8
  %131 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %127
  store i8 101, ptr %131, align 1
  %132 = load i64, ptr %8, align 8
  %133 = icmp ult i64 %132, 511
  br i1 %133, label %134, label %183

134:                                              ; preds = %129
  %135 = add nuw nsw i64 %132, 1
  store i64 %135, ptr %8, align 8
  %136 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %132
  store i8 32, ptr %136, align 1
  %137 = load i64, ptr %8, align 8
  %138 = icmp ult i64 %137, 511
  br i1 %138, label %139, label %183

139:                                              ; preds = %134
  %140 = add nuw nsw i64 %137, 1
  store i64 %140, ptr %8, align 8
  %141 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %137
  store i8 110, ptr %141, align 1
  %142 = load i64, ptr %8, align 8
  %143 = icmp ult i64 %142, 511
  br i1 %143, label %144, label %183

144:                                              ; preds = %139
  %145 = add nuw nsw i64 %142, 1
  store i64 %145, ptr %8, align 8
  %146 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %142
  store i8 111, ptr %146, align 1
  %147 = load i64, ptr %8, align 8
  %148 = icmp ult i64 %147, 511
  br i1 %148, label %149, label %183

149:                                              ; preds = %144
  %150 = add nuw nsw i64 %147, 1
  store i64 %150, ptr %8, align 8
  %151 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %147
  store i8 100, ptr %151, align 1
  %152 = load i64, ptr %8, align 8
  %153 = icmp ult i64 %152, 511
  br i1 %153, label %154, label %183

154:                                              ; preds = %149
  %155 = add nuw nsw i64 %152, 1
  store i64 %155, ptr %8, align 8
  %156 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %152
  store i8 101, ptr %156, align 1
  %157 = load i64, ptr %8, align 8
  %158 = icmp ult i64 %157, 511
  br i1 %158, label %159, label %183

159:                                              ; preds = %154
  %160 = add nuw nsw i64 %157, 1
  store i64 %160, ptr %8, align 8
  %161 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %157
  store i8 32, ptr %161, align 1
  %162 = load i64, ptr %8, align 8
  %163 = icmp ult i64 %162, 511
  br i1 %163, label %164, label %183

164:                                              ; preds = %159
  %165 = add nuw nsw i64 %162, 1
  store i64 %165, ptr %8, align 8
  %166 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %162
  store i8 104, ptr %166, align 1
  %167 = load i64, ptr %8, align 8
  %168 = icmp ult i64 %167, 511
  br i1 %168, label %169, label %183

169:                                              ; preds = %164
  %170 = add nuw nsw i64 %167, 1
  store i64 %170, ptr %8, align 8
  %171 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %167
  store i8 97, ptr %171, align 1
  %172 = load i64, ptr %8, align 8
  %173 = icmp ult i64 %172, 511
  br i1 %173, label %174, label %183

174:                                              ; preds = %169
  %175 = add nuw nsw i64 %172, 1
  store i64 %175, ptr %8, align 8
  %176 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %172
  store i8 115, ptr %176, align 1
  %177 = load i64, ptr %8, align 8
  %178 = icmp ult i64 %177, 511
  br i1 %178, label %179, label %183

179:                                              ; preds = %174
  %180 = add nuw nsw i64 %177, 1
  store i64 %180, ptr %8, align 8
  %181 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %177
  store i8 32, ptr %181, align 1
  %182 = load i64, ptr %8, align 8
  br label %183

183:                                              ; preds = %179, %174, %169, %164, %159, %154, %149, %144, %139, %134, %129, %124, %119, %114
  %184 = phi i64 [ %182, %179 ], [ %177, %174 ], [ %172, %169 ], [ %167, %164 ], [ %162, %159 ], [ %157, %154 ], [ %152, %149 ], [ %147, %144 ], [ %142, %139 ], [ %137, %134 ], [ %132, %129 ], [ %127, %124 ], [ %122, %119 ], [ %117, %114 ]
  %185 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %184
  store i8 0, ptr %185, align 1
  %186 = select i1 %71, ptr @.str.10, ptr @.str.9
  %187 = load i8, ptr %186, align 1
  %188 = icmp eq i8 %187, 0
  br i1 %188, label %200, label %189

189:                                              ; preds = %183, %194
  %190 = phi i8 [ %198, %194 ], [ %187, %183 ]
  %191 = phi ptr [ %195, %194 ], [ %186, %183 ]
  %192 = load i64, ptr %8, align 8
  %193 = icmp ult i64 %192, 511
  br i1 %193, label %194, label %200

194:                                              ; preds = %189
  %195 = getelementptr inbounds i8, ptr %191, i64 1
  %196 = add nuw nsw i64 %192, 1
  store i64 %196, ptr %8, align 8
  %197 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %192
  store i8 %190, ptr %197, align 1
  %198 = load i8, ptr %195, align 1
  %199 = icmp eq i8 %198, 0
  br i1 %199, label %200, label %189, !llvm.loop !4

200:                                              ; preds = %194, %189, %183
  %201 = load i64, ptr %8, align 8
  %202 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %201
  store i8 0, ptr %202, align 1
  br i1 %71, label %203, label %239

203:                                              ; preds = %200
  %204 = load i64, ptr %9, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %6) #9
  %205 = getelementptr inbounds i8, ptr %6, i64 23
  %206 = call i64 @llvm.abs.i64(i64 %204, i1 false)
  store i8 0, ptr %205, align 1
  br label %207

207:                                              ; preds = %207, %203
  %208 = phi ptr [ %205, %203 ], [ %213, %207 ]
  %209 = phi i64 [ %206, %203 ], [ %214, %207 ]
  %210 = urem i64 %209, 10
  %211 = trunc i64 %210 to i8
  %212 = or i8 %211, 48
  %213 = getelementptr inbounds i8, ptr %208, i64 -1
  store i8 %212, ptr %213, align 1
  %214 = udiv i64 %209, 10
  %215 = icmp ult i64 %209, 10
  br i1 %215, label %216, label %207, !llvm.loop !7

216:                                              ; preds = %207
  %217 = icmp slt i64 %204, 0
  br i1 %217, label %218, label %220

218:                                              ; preds = %216
  %219 = getelementptr inbounds i8, ptr %208, i64 -2
  store i8 45, ptr %219, align 1
  br label %220

220:                                              ; preds = %218, %216
  %221 = phi i8 [ %212, %216 ], [ 45, %218 ]
  %222 = phi ptr [ %213, %216 ], [ %219, %218 ]
  br label %223

223:                                              ; preds = %220, %228
  %224 = phi i8 [ %232, %228 ], [ %221, %220 ]
  %225 = phi ptr [ %229, %228 ], [ %222, %220 ]
  %226 = load i64, ptr %8, align 8
  %227 = icmp ult i64 %226, 511
  br i1 %227, label %228, label %236

228:                                              ; preds = %223
  %229 = getelementptr inbounds i8, ptr %225, i64 1
  %230 = add nuw nsw i64 %226, 1
  store i64 %230, ptr %8, align 8
  %231 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %226
  store i8 %224, ptr %231, align 1
  %232 = load i8, ptr %229, align 1
  %233 = icmp eq i8 %232, 0
  br i1 %233, label %234, label %223, !llvm.loop !4

234:                                              ; preds = %228
  %235 = load i64, ptr %8, align 8
  br label %236

236:                                              ; preds = %223, %234
  %237 = phi i64 [ %235, %234 ], [ %226, %223 ]
  %238 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %237
  store i8 0, ptr %238, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %6) #9
  br label %239

239:                                              ; preds = %236, %200
  br label %240

240:                                              ; preds = %254, %239
  %241 = phi i8 [ 32, %239 ], [ %258, %254 ]
  %242 = phi ptr [ @.str.11, %239 ], [ %255, %254 ]
  %243 = load i64, ptr %8, align 8
  %244 = icmp ult i64 %243, 511
  br i1 %244, label %245, label %261

245:                                              ; preds = %240
  %246 = getelementptr inbounds i8, ptr %242, i64 1
  %247 = add nuw nsw i64 %243, 1
  store i64 %247, ptr %8, align 8
  %248 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %243
  store i8 %241, ptr %248, align 1
  %249 = load i8, ptr %246, align 1
  %250 = icmp eq ptr %246, getelementptr inbounds ([44 x i8], ptr @.str.11, i64 0, i64 43)
  br i1 %250, label %259, label %251, !llvm.loop !4

251:                                              ; preds = %245
  %252 = load i64, ptr %8, align 8
  %253 = icmp ult i64 %252, 511
  br i1 %253, label %254, label %261

254:                                              ; preds = %251
  %255 = getelementptr inbounds i8, ptr %242, i64 2
  %256 = add nuw nsw i64 %252, 1
  store i64 %256, ptr %8, align 8
  %257 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %252
  store i8 %249, ptr %257, align 1
  %258 = load i8, ptr %255, align 1
  br label %240

259:                                              ; preds = %245
  %260 = load i64, ptr %8, align 8
  br label %261

261:                                              ; preds = %240, %251, %259
  %262 = phi i64 [ %260, %259 ], [ %243, %240 ], [ %252, %251 ]
  %263 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %262
  store i8 0, ptr %263, align 1
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %5) #9
  %264 = getelementptr inbounds i8, ptr %5, i64 23
  store i8 0, ptr %264, align 1
  %265 = getelementptr inbounds i8, ptr %5, i64 22
  store i8 52, ptr %265, align 2
  %266 = getelementptr inbounds i8, ptr %5, i64 21
  store i8 54, ptr %266, align 1
  br label %267

267:                                              ; preds = %272, %261
  %268 = phi i8 [ %276, %272 ], [ 54, %261 ]
  %269 = phi ptr [ %273, %272 ], [ %266, %261 ]
  %270 = load i64, ptr %8, align 8
  %271 = icmp ult i64 %270, 511
  br i1 %271, label %272, label %280

272:                                              ; preds = %267
  %273 = getelementptr inbounds i8, ptr %269, i64 1
  %274 = add nuw nsw i64 %270, 1
  store i64 %274, ptr %8, align 8
  %275 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %270
  store i8 %268, ptr %275, align 1
  %276 = load i8, ptr %273, align 1
  %277 = icmp eq i8 %276, 0
  br i1 %277, label %278, label %267, !llvm.loop !4

278:                                              ; preds = %272
  %279 = load i64, ptr %8, align 8
  br label %280

280:                                              ; preds = %267, %278
  %281 = phi i64 [ %279, %278 ], [ %270, %267 ]
  %282 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %281
  store i8 0, ptr %282, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %5) #9
  %283 = load ptr, ptr %1, align 8
  %284 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1
  %285 = call ptr %283(i32 noundef 2, ptr noundef nonnull %284) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  %286 = icmp eq ptr %285, null
  br i1 %286, label %287, label %309

287:                                              ; preds = %280, %82
  %288 = phi i32 [ %79, %82 ], [ %84, %280 ]
  %289 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 16
  %290 = load ptr, ptr %289, align 8
  %291 = call ptr %290(ptr noundef nonnull %13) #8
  %292 = icmp eq ptr %291, null
  br i1 %292, label %293, label %309

293:                                              ; preds = %287
  %294 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 13
  %295 = load ptr, ptr %294, align 8
  %296 = load ptr, ptr %13, align 8
  %297 = call ptr %295(ptr noundef %296, i64 noundef 88, ptr noundef %3) #8
  %298 = icmp eq ptr %297, null
  br i1 %298, label %299, label %309

299:                                              ; preds = %293
  %300 = load ptr, ptr %3, align 8
  %301 = icmp eq ptr %300, null
  br i1 %301, label %302, label %304

302:                                              ; preds = %299
  %303 = call fastcc ptr @fail(ptr noundef nonnull %1, i32 noundef 6, ptr noundef nonnull @.str.4) #10
  br label %309

304:                                              ; preds = %299
  %305 = load ptr, ptr %13, align 8
  store ptr %1, ptr %300, align 8
  %306 = getelementptr inbounds i8, ptr %300, i64 8
  store ptr %305, ptr %306, align 8
  %307 = getelementptr inbounds i8, ptr %300, i64 16
  store i32 %288, ptr %307, align 8
  %308 = getelementptr inbounds i8, ptr %300, i64 20
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(68) %308, i8 0, i64 68, i1 false)
  br label %309

309:                                              ; preds = %64, %280, %287, %302, %304, %293, %31, %23
  %310 = phi ptr [ %25, %23 ], [ %32, %31 ], [ null, %304 ], [ %303, %302 ], [ %297, %293 ], [ %291, %287 ], [ %285, %280 ], [ %65, %64 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %13) #9
  ret ptr %310
}

; Function Attrs: nounwind
define internal ptr @compute(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca %struct.model_tensor, align 8
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca [8 x i64], align 16
  %8 = alloca i64, align 8
  %9 = alloca %struct.model_tensor, align 8
  %10 = alloca ptr, align 8
  %11 = alloca %struct.model_threads, align 8
  %12 = alloca ptr, align 8
  %13 = alloca %struct.model_tensor, align 8
  %14 = alloca ptr, align 8
  %15 = alloca ptr, align 8
  %16 = alloca [8 x i64], align 16
  %17 = alloca i64, align 8
  %18 = alloca %struct.model_tensor, align 8
  %19 = alloca %struct.run, align 8
  %20 = alloca [256 x i64], align 16
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %19) #9
  store ptr %0, ptr %19, align 8
  %21 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 1
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2
  %23 = call i32 @model_describe(ptr noundef nonnull %22) #8
  %24 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 3
  store ptr null, ptr %24, align 8
  %25 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 4
  store ptr null, ptr %25, align 8
  %26 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 5
  store ptr null, ptr %26, align 8
  %27 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 6
  store ptr null, ptr %27, align 8
  %28 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 7
  store ptr null, ptr %28, align 8
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %20) #9
  %29 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 8
  %30 = load i32, ptr %29, align 4
  %31 = icmp eq i32 %30, 0
  br i1 %31, label %177, label %32

32:                                               ; preds = %2
  %33 = zext i32 %30 to i64
  %34 = icmp ult i32 %30, 4
  br i1 %34, label %45, label %35

35:                                               ; preds = %32
  %36 = and i64 %33, 4294967292
  br label %37

37:                                               ; preds = %37, %35
  %38 = phi i64 [ 0, %35 ], [ %41, %37 ]
  %39 = getelementptr inbounds [256 x i64], ptr %20, i64 0, i64 %38
  store <2 x i64> zeroinitializer, ptr %39, align 16
  %40 = getelementptr inbounds i64, ptr %39, i64 2
  store <2 x i64> zeroinitializer, ptr %40, align 16
  %41 = add nuw i64 %38, 4
  %42 = icmp eq i64 %41, %36
  br i1 %42, label %43, label %37, !llvm.loop !8

43:                                               ; preds = %37
  %44 = icmp eq i64 %36, %33
  br i1 %44, label %47, label %45

45:                                               ; preds = %32, %43
  %46 = phi i64 [ 0, %32 ], [ %36, %43 ]
  br label %171

47:                                               ; preds = %171, %43
  %48 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 6
  %49 = load i32, ptr %48, align 4
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %176, label %51

51:                                               ; preds = %47
  %52 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 2
  br label %53

53:                                               ; preds = %159, %51
  %54 = phi i64 [ 0, %51 ], [ %160, %159 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %15) #9
  store ptr null, ptr %15, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %17) #9
  store i64 0, ptr %17, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %18) #9
  %55 = load ptr, ptr %19, align 8
  %56 = load ptr, ptr %55, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %14) #9
  store ptr null, ptr %14, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 21
  %58 = load ptr, ptr %57, align 8
  %59 = load ptr, ptr %21, align 8
  %60 = call ptr %58(ptr noundef %59, i64 noundef %54, ptr noundef nonnull %15) #8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %62, label %81

62:                                               ; preds = %53
  %63 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 11
  %64 = load ptr, ptr %63, align 8
  %65 = load ptr, ptr %15, align 8
  %66 = call ptr %64(ptr noundef %65, ptr noundef nonnull %14) #8
  %67 = icmp eq ptr %66, null
  br i1 %67, label %68, label %81

68:                                               ; preds = %62
  %69 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 8
  %70 = load ptr, ptr %69, align 8
  %71 = load ptr, ptr %14, align 8
  %72 = call ptr %70(ptr noundef %71, ptr noundef nonnull %17) #8
  %73 = icmp eq ptr %72, null
  br i1 %73, label %74, label %83

74:                                               ; preds = %68
  %75 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 9
  %76 = load ptr, ptr %75, align 8
  %77 = load ptr, ptr %14, align 8
  %78 = load i64, ptr %17, align 8
  %79 = call i64 @llvm.umin.i64(i64 %78, i64 8)
  %80 = call ptr %76(ptr noundef %77, ptr noundef nonnull %16, i64 noundef %79) #8
  br label %83

81:                                               ; preds = %62, %53
  %82 = phi ptr [ %60, %53 ], [ %66, %62 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %164

83:                                               ; preds = %74, %68
  %84 = phi ptr [ %72, %68 ], [ %80, %74 ]
  %85 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 26
  %86 = load ptr, ptr %85, align 8
  %87 = load ptr, ptr %14, align 8
  call void %86(ptr noundef %87) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  %88 = icmp eq ptr %84, null
  br i1 %88, label %89, label %164

89:                                               ; preds = %83
  %90 = load i32, ptr %48, align 4
  %91 = zext i32 %90 to i64
  %92 = icmp ult i64 %54, %91
  br i1 %92, label %93, label %97

93:                                               ; preds = %89
  %94 = load ptr, ptr %24, align 8
  %95 = trunc i64 %54 to i32
  %96 = call i32 @model_input(i32 noundef %95, ptr noundef %94, ptr noundef nonnull %18) #8
  br label %102

97:                                               ; preds = %89
  %98 = trunc i64 %54 to i32
  %99 = sub i32 %98, %90
  %100 = load ptr, ptr %24, align 8
  %101 = call i32 @model_output(i32 noundef %99, ptr noundef %100, ptr noundef nonnull %18) #8
  br label %102

102:                                              ; preds = %97, %93
  %103 = load i64, ptr %17, align 8
  %104 = load i32, ptr %52, align 8
  %105 = zext i32 %104 to i64
  %106 = icmp eq i64 %103, %105
  br i1 %106, label %107, label %166

107:                                              ; preds = %102
  %108 = icmp eq i64 %103, 0
  br i1 %108, label %159, label %109

109:                                              ; preds = %107
  %110 = load i32, ptr %29, align 4
  %111 = zext i32 %110 to i64
  %112 = and i64 %103, 1
  %113 = icmp eq i64 %103, 1
  br i1 %113, label %145, label %114

114:                                              ; preds = %109
  %115 = and i64 %103, -2
  br label %116

116:                                              ; preds = %141, %114
  %117 = phi i64 [ 0, %114 ], [ %142, %141 ]
  %118 = phi i64 [ 0, %114 ], [ %143, %141 ]
  %119 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 4, i64 %117
  %120 = load i64, ptr %119, align 8
  %121 = icmp slt i64 %120, 0
  br i1 %121, label %122, label %129

122:                                              ; preds = %116
  %123 = xor i64 %120, -1
  %124 = icmp ult i64 %123, %111
  br i1 %124, label %125, label %129

125:                                              ; preds = %122
  %126 = getelementptr inbounds [8 x i64], ptr %16, i64 0, i64 %117
  %127 = load i64, ptr %126, align 16
  %128 = getelementptr inbounds i64, ptr %20, i64 %123
  store i64 %127, ptr %128, align 8
  br label %129

129:                                              ; preds = %125, %122, %116
  %130 = or i64 %117, 1
  %131 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 4, i64 %130
  %132 = load i64, ptr %131, align 8
  %133 = icmp slt i64 %132, 0
  br i1 %133, label %134, label %141

134:                                              ; preds = %129
  %135 = xor i64 %132, -1
  %136 = icmp ult i64 %135, %111
  br i1 %136, label %137, label %141

137:                                              ; preds = %134
  %138 = getelementptr inbounds [8 x i64], ptr %16, i64 0, i64 %130
  %139 = load i64, ptr %138, align 8
  %140 = getelementptr inbounds i64, ptr %20, i64 %135
  store i64 %139, ptr %140, align 8
  br label %141

141:                                              ; preds = %137, %134, %129
  %142 = add nuw i64 %117, 2
  %143 = add i64 %118, 2
  %144 = icmp eq i64 %143, %115
  br i1 %144, label %145, label %116, !llvm.loop !11

145:                                              ; preds = %141, %109
  %146 = phi i64 [ 0, %109 ], [ %142, %141 ]
  %147 = icmp eq i64 %112, 0
  br i1 %147, label %159, label %148

148:                                              ; preds = %145
  %149 = getelementptr inbounds %struct.model_tensor, ptr %18, i64 0, i32 4, i64 %146
  %150 = load i64, ptr %149, align 8
  %151 = icmp slt i64 %150, 0
  br i1 %151, label %152, label %159

152:                                              ; preds = %148
  %153 = xor i64 %150, -1
  %154 = icmp ult i64 %153, %111
  br i1 %154, label %155, label %159

155:                                              ; preds = %152
  %156 = getelementptr inbounds [8 x i64], ptr %16, i64 0, i64 %146
  %157 = load i64, ptr %156, align 8
  %158 = getelementptr inbounds i64, ptr %20, i64 %153
  store i64 %157, ptr %158, align 8
  br label %159

159:                                              ; preds = %145, %155, %152, %148, %107
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  %160 = add nuw nsw i64 %54, 1
  %161 = load i32, ptr %48, align 4
  %162 = zext i32 %161 to i64
  %163 = icmp ult i64 %160, %162
  br i1 %163, label %53, label %176, !llvm.loop !12

164:                                              ; preds = %83, %81
  %165 = phi ptr [ %82, %81 ], [ %84, %83 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  br label %599

166:                                              ; preds = %102
  %167 = load ptr, ptr %19, align 8
  %168 = load ptr, ptr %167, align 8
  %169 = call fastcc ptr @refuse_shape(ptr noundef %168, ptr noundef nonnull %18, ptr noundef nonnull %16, i64 noundef %103) #10
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %18) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %17) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15) #9
  %170 = icmp eq ptr %169, null
  br i1 %170, label %176, label %599

171:                                              ; preds = %45, %171
  %172 = phi i64 [ %174, %171 ], [ %46, %45 ]
  %173 = getelementptr inbounds [256 x i64], ptr %20, i64 0, i64 %172
  store i64 0, ptr %173, align 8
  %174 = add nuw nsw i64 %172, 1
  %175 = icmp eq i64 %174, %33
  br i1 %175, label %47, label %171, !llvm.loop !13

176:                                              ; preds = %159, %47, %166
  store ptr %20, ptr %24, align 8
  br label %177

177:                                              ; preds = %176, %2
  %178 = phi ptr [ %20, %176 ], [ null, %2 ]
  %179 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 6
  %180 = load i32, ptr %179, align 4
  %181 = getelementptr inbounds %struct.run, ptr %19, i64 0, i32 2, i32 7
  %182 = load i32, ptr %181, align 8
  %183 = add i32 %182, %180
  %184 = zext i32 %183 to i64
  %185 = shl nuw nsw i64 %184, 4
  %186 = zext i32 %182 to i64
  %187 = shl nuw nsw i64 %186, 3
  %188 = add nuw nsw i64 %187, 63
  %189 = add nuw nsw i64 %188, %185
  %190 = and i64 %189, 137438953408
  %191 = sub i32 0, %180
  %192 = icmp eq i32 %182, %191
  br i1 %192, label %224, label %193

193:                                              ; preds = %177
  %194 = getelementptr inbounds %struct.model_tensor, ptr %13, i64 0, i32 5
  br label %195

195:                                              ; preds = %212, %193
  %196 = phi i32 [ %180, %193 ], [ %218, %212 ]
  %197 = phi i32 [ 0, %193 ], [ %217, %212 ]
  %198 = phi i64 [ %190, %193 ], [ %216, %212 ]
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %13) #9
  %199 = icmp ult i32 %197, %196
  br i1 %199, label %200, label %203

200:                                              ; preds = %195
  %201 = load ptr, ptr %24, align 8
  %202 = call i32 @model_input(i32 noundef %197, ptr noundef %201, ptr noundef nonnull %13) #8
  br label %207

203:                                              ; preds = %195
  %204 = sub i32 %197, %196
  %205 = load ptr, ptr %24, align 8
  %206 = call i32 @model_output(i32 noundef %204, ptr noundef %205, ptr noundef nonnull %13) #8
  br label %207

207:                                              ; preds = %203, %200
  %208 = phi i32 [ %202, %200 ], [ %206, %203 ]
  %209 = icmp eq i32 %208, 0
  br i1 %209, label %212, label %210

210:                                              ; preds = %207
  %211 = sext i32 %208 to i64
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %13) #9
  br label %234

212:                                              ; preds = %207
  %213 = load i64, ptr %194, align 8
  %214 = add i64 %213, 63
  %215 = and i64 %214, -64
  %216 = add nsw i64 %215, %198
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %13) #9
  %217 = add nuw i32 %197, 1
  %218 = load i32, ptr %179, align 4
  %219 = load i32, ptr %181, align 8
  %220 = add i32 %219, %218
  %221 = icmp ult i32 %217, %220
  br i1 %221, label %195, label %222, !llvm.loop !14

222:                                              ; preds = %212
  %223 = load ptr, ptr %24, align 8
  br label %224

224:                                              ; preds = %222, %177
  %225 = phi ptr [ %178, %177 ], [ %223, %222 ]
  %226 = phi i64 [ %190, %177 ], [ %216, %222 ]
  %227 = load ptr, ptr %19, align 8
  %228 = getelementptr inbounds %struct.kernel, ptr %227, i64 0, i32 2
  %229 = load i32, ptr %228, align 8
  %230 = call i64 @model_workspace_bytes(ptr noundef %225, i32 noundef %229) #8
  %231 = icmp slt i64 %230, 0
  %232 = select i1 %231, i64 0, i64 %226
  %233 = add nsw i64 %232, %230
  br label %234

234:                                              ; preds = %210, %224
  %235 = phi i64 [ %230, %224 ], [ undef, %210 ]
  %236 = phi i64 [ %233, %224 ], [ %211, %210 ]
  %237 = icmp slt i64 %236, 0
  br i1 %237, label %238, label %243

238:                                              ; preds = %234
  %239 = load ptr, ptr %0, align 8
  %240 = trunc i64 %236 to i32
  %241 = call ptr @model_status_text(i32 noundef %240) #8
  %242 = call fastcc ptr @fail(ptr noundef %239, i32 noundef 2, ptr noundef %241) #10
  br label %599

243:                                              ; preds = %234
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store ptr null, ptr %12, align 8
  %244 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3
  %245 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  br label %246

246:                                              ; preds = %267, %243
  %247 = phi i64 [ 0, %243 ], [ %268, %267 ]
  %248 = getelementptr inbounds ptr, ptr %244, i64 %247
  %249 = atomicrmw xchg ptr %248, i64 0 acq_rel, align 8
  %250 = inttoptr i64 %249 to ptr
  %251 = icmp eq i64 %249, 0
  br i1 %251, label %267, label %252

252:                                              ; preds = %246
  %253 = getelementptr inbounds %struct.block, ptr %250, i64 0, i32 1
  %254 = load i64, ptr %253, align 8
  %255 = icmp ult i64 %254, %236
  br i1 %255, label %256, label %289

256:                                              ; preds = %252
  %257 = load ptr, ptr %0, align 8
  %258 = getelementptr inbounds %struct.ort_api, ptr %257, i64 0, i32 14
  %259 = load ptr, ptr %258, align 8
  %260 = load ptr, ptr %245, align 8
  %261 = call ptr %259(ptr noundef %260, ptr noundef nonnull %250) #8
  %262 = icmp eq ptr %261, null
  br i1 %262, label %267, label %263

263:                                              ; preds = %256
  %264 = load ptr, ptr %0, align 8
  %265 = getelementptr inbounds %struct.ort_api, ptr %264, i64 0, i32 24
  %266 = load ptr, ptr %265, align 8
  call void %266(ptr noundef nonnull %261) #8
  br label %267

267:                                              ; preds = %263, %256, %246
  %268 = add nuw nsw i64 %247, 1
  %269 = icmp eq i64 %268, 8
  br i1 %269, label %270, label %246, !llvm.loop !15

270:                                              ; preds = %267
  %271 = load ptr, ptr %0, align 8
  %272 = getelementptr inbounds %struct.ort_api, ptr %271, i64 0, i32 13
  %273 = load ptr, ptr %272, align 8
  %274 = load ptr, ptr %245, align 8
  %275 = add i64 %236, 80
  %276 = call ptr %273(ptr noundef %274, i64 noundef %275, ptr noundef nonnull %12) #8
  %277 = icmp eq ptr %276, null
  br i1 %277, label %279, label %278

278:                                              ; preds = %270
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  br label %599

279:                                              ; preds = %270
  %280 = load ptr, ptr %12, align 8
  %281 = icmp eq ptr %280, null
  br i1 %281, label %293, label %282

282:                                              ; preds = %279
  %283 = getelementptr inbounds %struct.block, ptr %280, i64 0, i32 1
  store i64 %236, ptr %283, align 8
  %284 = getelementptr inbounds %struct.block, ptr %280, i64 1
  %285 = ptrtoint ptr %284 to i64
  %286 = sub i64 0, %285
  %287 = and i64 %286, 63
  %288 = getelementptr inbounds i8, ptr %284, i64 %287
  store ptr %288, ptr %280, align 8
  br label %291

289:                                              ; preds = %252
  %290 = inttoptr i64 %249 to ptr
  br label %291

291:                                              ; preds = %289, %282
  %292 = phi ptr [ %280, %282 ], [ %290, %289 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  br label %297

293:                                              ; preds = %279
  %294 = load ptr, ptr %0, align 8
  %295 = call fastcc ptr @fail(ptr noundef %294, i32 noundef 6, ptr noundef nonnull @.str.20) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  %296 = icmp eq ptr %295, null
  br i1 %296, label %297, label %599

297:                                              ; preds = %291, %293
  %298 = phi ptr [ %292, %291 ], [ null, %293 ]
  %299 = load ptr, ptr %298, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %11) #9
  %300 = load ptr, ptr %19, align 8
  %301 = getelementptr inbounds %struct.kernel, ptr %300, i64 0, i32 2
  %302 = load i32, ptr %301, align 8
  store i32 %302, ptr %11, align 8
  %303 = getelementptr inbounds %struct.model_threads, ptr %11, i64 0, i32 1
  store ptr @launch, ptr %303, align 8
  %304 = getelementptr inbounds %struct.model_threads, ptr %11, i64 0, i32 2
  store ptr %19, ptr %304, align 8
  %305 = load i32, ptr %179, align 4
  %306 = load i32, ptr %181, align 8
  store ptr %299, ptr %25, align 8
  %307 = zext i32 %305 to i64
  %308 = getelementptr inbounds %struct.model_buffer, ptr %299, i64 %307
  %309 = zext i32 %306 to i64
  %310 = getelementptr inbounds %struct.model_buffer, ptr %308, i64 %309
  store ptr %310, ptr %26, align 8
  %311 = add i32 %306, %305
  %312 = zext i32 %311 to i64
  %313 = shl nuw nsw i64 %312, 4
  %314 = shl nuw nsw i64 %309, 3
  %315 = add nuw nsw i64 %314, 63
  %316 = add nuw nsw i64 %315, %313
  %317 = and i64 %316, 137438953408
  %318 = getelementptr inbounds i8, ptr %299, i64 %317
  store ptr %318, ptr %27, align 8
  %319 = icmp eq i32 %305, 0
  br i1 %319, label %324, label %320

320:                                              ; preds = %297
  %321 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 2
  %322 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 5
  %323 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 3
  br label %334

324:                                              ; preds = %432, %297
  %325 = phi ptr [ null, %297 ], [ %433, %432 ]
  %326 = icmp eq ptr %325, null
  %327 = icmp ne i32 %306, 0
  %328 = select i1 %326, i1 %327, i1 false
  br i1 %328, label %329, label %438

329:                                              ; preds = %324
  %330 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 4
  %331 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 2
  %332 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 5
  %333 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 3
  br label %439

334:                                              ; preds = %432, %320
  %335 = phi i64 [ 0, %320 ], [ %434, %432 ]
  %336 = load ptr, ptr %19, align 8
  %337 = load ptr, ptr %336, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #9
  store i64 0, ptr %8, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #9
  store ptr null, ptr %10, align 8
  %338 = load ptr, ptr %336, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #9
  store ptr null, ptr %5, align 8
  %339 = getelementptr inbounds %struct.ort_api, ptr %338, i64 0, i32 21
  %340 = load ptr, ptr %339, align 8
  %341 = load ptr, ptr %21, align 8
  %342 = call ptr %340(ptr noundef %341, i64 noundef %335, ptr noundef nonnull %6) #8
  %343 = icmp eq ptr %342, null
  br i1 %343, label %344, label %363

344:                                              ; preds = %334
  %345 = getelementptr inbounds %struct.ort_api, ptr %338, i64 0, i32 11
  %346 = load ptr, ptr %345, align 8
  %347 = load ptr, ptr %6, align 8
  %348 = call ptr %346(ptr noundef %347, ptr noundef nonnull %5) #8
  %349 = icmp eq ptr %348, null
  br i1 %349, label %350, label %363

350:                                              ; preds = %344
  %351 = getelementptr inbounds %struct.ort_api, ptr %338, i64 0, i32 8
  %352 = load ptr, ptr %351, align 8
  %353 = load ptr, ptr %5, align 8
  %354 = call ptr %352(ptr noundef %353, ptr noundef nonnull %8) #8
  %355 = icmp eq ptr %354, null
  br i1 %355, label %356, label %365

356:                                              ; preds = %350
  %357 = getelementptr inbounds %struct.ort_api, ptr %338, i64 0, i32 9
  %358 = load ptr, ptr %357, align 8
  %359 = load ptr, ptr %5, align 8
  %360 = load i64, ptr %8, align 8
  %361 = call i64 @llvm.umin.i64(i64 %360, i64 8)
  %362 = call ptr %358(ptr noundef %359, ptr noundef nonnull %7, i64 noundef %361) #8
  br label %365

363:                                              ; preds = %344, %334
  %364 = phi ptr [ %342, %334 ], [ %348, %344 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #9
  br label %430

365:                                              ; preds = %356, %350
  %366 = phi ptr [ %354, %350 ], [ %362, %356 ]
  %367 = getelementptr inbounds %struct.ort_api, ptr %338, i64 0, i32 26
  %368 = load ptr, ptr %367, align 8
  %369 = load ptr, ptr %5, align 8
  call void %368(ptr noundef %369) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #9
  %370 = icmp eq ptr %366, null
  br i1 %370, label %371, label %430

371:                                              ; preds = %365
  %372 = load i32, ptr %179, align 4
  %373 = zext i32 %372 to i64
  %374 = icmp ult i64 %335, %373
  br i1 %374, label %375, label %379

375:                                              ; preds = %371
  %376 = load ptr, ptr %24, align 8
  %377 = trunc i64 %335 to i32
  %378 = call i32 @model_input(i32 noundef %377, ptr noundef %376, ptr noundef nonnull %9) #8
  br label %384

379:                                              ; preds = %371
  %380 = trunc i64 %335 to i32
  %381 = sub i32 %380, %372
  %382 = load ptr, ptr %24, align 8
  %383 = call i32 @model_output(i32 noundef %381, ptr noundef %382, ptr noundef nonnull %9) #8
  br label %384

384:                                              ; preds = %379, %375
  %385 = load i64, ptr %8, align 8
  %386 = load i32, ptr %321, align 8
  %387 = zext i32 %386 to i64
  %388 = icmp eq i64 %385, %387
  %389 = icmp ne i64 %385, 0
  %390 = and i1 %389, %388
  br i1 %390, label %393, label %391

391:                                              ; preds = %393, %384
  %392 = phi i1 [ %388, %384 ], [ %399, %393 ]
  br i1 %392, label %405, label %403

393:                                              ; preds = %384, %393
  %394 = phi i64 [ %400, %393 ], [ 0, %384 ]
  %395 = getelementptr inbounds [8 x i64], ptr %7, i64 0, i64 %394
  %396 = load i64, ptr %395, align 8
  %397 = getelementptr inbounds %struct.model_tensor, ptr %9, i64 0, i32 4, i64 %394
  %398 = load i64, ptr %397, align 8
  %399 = icmp eq i64 %396, %398
  %400 = add nuw i64 %394, 1
  %401 = icmp ult i64 %400, %385
  %402 = select i1 %399, i1 %401, i1 false
  br i1 %402, label %393, label %391, !llvm.loop !16

403:                                              ; preds = %391
  %404 = call fastcc ptr @refuse_shape(ptr noundef %337, ptr noundef nonnull %9, ptr noundef nonnull %7, i64 noundef %385) #10
  br label %432

405:                                              ; preds = %391
  %406 = getelementptr inbounds %struct.ort_api, ptr %337, i64 0, i32 6
  %407 = load ptr, ptr %406, align 8
  %408 = load ptr, ptr %6, align 8
  %409 = call ptr %407(ptr noundef %408, ptr noundef nonnull %10) #8
  %410 = icmp eq ptr %409, null
  br i1 %410, label %411, label %430

411:                                              ; preds = %405
  %412 = load ptr, ptr %25, align 8
  %413 = getelementptr inbounds %struct.model_buffer, ptr %412, i64 %335
  %414 = load ptr, ptr %10, align 8
  %415 = load i64, ptr %322, align 8
  %416 = ptrtoint ptr %414 to i64
  %417 = load i32, ptr %323, align 4
  %418 = zext i32 %417 to i64
  %419 = urem i64 %416, %418
  %420 = icmp eq i64 %419, 0
  %421 = load ptr, ptr %27, align 8
  %422 = select i1 %420, ptr %414, ptr %421
  %423 = add i64 %415, 63
  %424 = and i64 %423, -64
  %425 = getelementptr inbounds i8, ptr %421, i64 %424
  store ptr %425, ptr %27, align 8
  store ptr %422, ptr %413, align 8
  %426 = getelementptr inbounds i8, ptr %413, i64 8
  store i64 %415, ptr %426, align 8
  %427 = load ptr, ptr %10, align 8
  %428 = icmp eq ptr %422, %427
  br i1 %428, label %432, label %429

429:                                              ; preds = %411
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %422, ptr align 1 %427, i64 %415, i1 false)
  br label %432

430:                                              ; preds = %405, %365, %363
  %431 = phi ptr [ %364, %363 ], [ %409, %405 ], [ %366, %365 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  br label %555

432:                                              ; preds = %429, %411, %403
  %433 = phi ptr [ %404, %403 ], [ null, %429 ], [ null, %411 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %7) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  %434 = add nuw nsw i64 %335, 1
  %435 = icmp eq ptr %433, null
  %436 = icmp ult i64 %434, %307
  %437 = select i1 %435, i1 %436, i1 false
  br i1 %437, label %334, label %324, !llvm.loop !17

438:                                              ; preds = %324
  br i1 %326, label %493, label %555

439:                                              ; preds = %470, %329
  %440 = phi i64 [ 0, %329 ], [ %491, %470 ]
  %441 = load ptr, ptr %19, align 8
  %442 = load ptr, ptr %441, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #9
  store ptr null, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %4) #9
  %443 = load i32, ptr %179, align 4
  %444 = trunc i64 %440 to i32
  %445 = add i32 %443, %444
  %446 = icmp ugt i32 %443, %445
  %447 = load ptr, ptr %24, align 8
  br i1 %446, label %448, label %450

448:                                              ; preds = %439
  %449 = call i32 @model_input(i32 noundef %445, ptr noundef %447, ptr noundef nonnull %4) #8
  br label %452

450:                                              ; preds = %439
  %451 = call i32 @model_output(i32 noundef %444, ptr noundef %447, ptr noundef nonnull %4) #8
  br label %452

452:                                              ; preds = %450, %448
  %453 = getelementptr inbounds %struct.ort_api, ptr %442, i64 0, i32 22
  %454 = load ptr, ptr %453, align 8
  %455 = load ptr, ptr %21, align 8
  %456 = load i32, ptr %331, align 8
  %457 = zext i32 %456 to i64
  %458 = call ptr %454(ptr noundef %455, i64 noundef %440, ptr noundef nonnull %330, i64 noundef %457, ptr noundef nonnull %3) #8
  %459 = icmp eq ptr %458, null
  br i1 %459, label %460, label %468

460:                                              ; preds = %452
  %461 = getelementptr inbounds %struct.ort_api, ptr %442, i64 0, i32 6
  %462 = load ptr, ptr %461, align 8
  %463 = load ptr, ptr %3, align 8
  %464 = load ptr, ptr %26, align 8
  %465 = getelementptr inbounds ptr, ptr %464, i64 %440
  %466 = call ptr %462(ptr noundef %463, ptr noundef %465) #8
  %467 = icmp eq ptr %466, null
  br i1 %467, label %470, label %468

468:                                              ; preds = %460, %452
  %469 = phi ptr [ %466, %460 ], [ %458, %452 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  br label %555

470:                                              ; preds = %460
  %471 = load ptr, ptr %25, align 8
  %472 = load i32, ptr %179, align 4
  %473 = add i32 %472, %444
  %474 = zext i32 %473 to i64
  %475 = getelementptr inbounds %struct.model_buffer, ptr %471, i64 %474
  %476 = load ptr, ptr %26, align 8
  %477 = getelementptr inbounds ptr, ptr %476, i64 %440
  %478 = load ptr, ptr %477, align 8
  %479 = load i64, ptr %332, align 8
  %480 = ptrtoint ptr %478 to i64
  %481 = load i32, ptr %333, align 4
  %482 = zext i32 %481 to i64
  %483 = urem i64 %480, %482
  %484 = icmp eq i64 %483, 0
  %485 = load ptr, ptr %27, align 8
  %486 = select i1 %484, ptr %478, ptr %485
  %487 = add i64 %479, 63
  %488 = and i64 %487, -64
  %489 = getelementptr inbounds i8, ptr %485, i64 %488
  store ptr %489, ptr %27, align 8
  store ptr %486, ptr %475, align 8
  %490 = getelementptr inbounds i8, ptr %475, i64 8
  store i64 %479, ptr %490, align 8
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  %491 = add nuw nsw i64 %440, 1
  %492 = icmp eq i64 %491, %309
  br i1 %492, label %493, label %439, !llvm.loop !18

493:                                              ; preds = %470, %438
  %494 = load ptr, ptr %27, align 8
  %495 = load ptr, ptr %25, align 8
  %496 = getelementptr inbounds %struct.model_buffer, ptr %495, i64 %307
  %497 = load ptr, ptr %24, align 8
  %498 = call i32 @model_run(ptr noundef %497, ptr noundef %495, ptr noundef %496, ptr %494, i64 %235, ptr noundef nonnull %11) #8
  %499 = load ptr, ptr %28, align 8
  %500 = icmp eq ptr %499, null
  br i1 %500, label %501, label %555

501:                                              ; preds = %493
  %502 = icmp eq i32 %498, 0
  br i1 %502, label %503, label %510

503:                                              ; preds = %501
  %504 = icmp eq i32 %306, 0
  br i1 %504, label %555, label %505

505:                                              ; preds = %503
  %506 = and i64 %309, 1
  %507 = icmp eq i32 %306, 1
  br i1 %507, label %542, label %508

508:                                              ; preds = %505
  %509 = and i64 %309, 4294967294
  br label %515

510:                                              ; preds = %501
  %511 = load ptr, ptr %19, align 8
  %512 = load ptr, ptr %511, align 8
  %513 = call ptr @model_status_text(i32 noundef %498) #8
  %514 = call fastcc ptr @fail(ptr noundef %512, i32 noundef 6, ptr noundef %513) #10
  br label %555

515:                                              ; preds = %538, %508
  %516 = phi i64 [ 0, %508 ], [ %539, %538 ]
  %517 = phi i64 [ 0, %508 ], [ %540, %538 ]
  %518 = getelementptr inbounds %struct.model_buffer, ptr %496, i64 %516
  %519 = load ptr, ptr %518, align 8
  %520 = load ptr, ptr %26, align 8
  %521 = getelementptr inbounds ptr, ptr %520, i64 %516
  %522 = load ptr, ptr %521, align 8
  %523 = icmp eq ptr %519, %522
  br i1 %523, label %527, label %524

524:                                              ; preds = %515
  %525 = getelementptr inbounds %struct.model_buffer, ptr %518, i64 0, i32 1
  %526 = load i64, ptr %525, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %522, ptr align 1 %519, i64 %526, i1 false)
  br label %527

527:                                              ; preds = %524, %515
  %528 = or i64 %516, 1
  %529 = getelementptr inbounds %struct.model_buffer, ptr %496, i64 %528
  %530 = load ptr, ptr %529, align 8
  %531 = load ptr, ptr %26, align 8
  %532 = getelementptr inbounds ptr, ptr %531, i64 %528
  %533 = load ptr, ptr %532, align 8
  %534 = icmp eq ptr %530, %533
  br i1 %534, label %538, label %535

535:                                              ; preds = %527
  %536 = getelementptr inbounds %struct.model_buffer, ptr %529, i64 0, i32 1
  %537 = load i64, ptr %536, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %533, ptr align 1 %530, i64 %537, i1 false)
  br label %538

538:                                              ; preds = %535, %527
  %539 = add nuw nsw i64 %516, 2
  %540 = add i64 %517, 2
  %541 = icmp eq i64 %540, %509
  br i1 %541, label %542, label %515, !llvm.loop !19

542:                                              ; preds = %538, %505
  %543 = phi i64 [ 0, %505 ], [ %539, %538 ]
  %544 = icmp eq i64 %506, 0
  br i1 %544, label %555, label %545

545:                                              ; preds = %542
  %546 = getelementptr inbounds %struct.model_buffer, ptr %496, i64 %543
  %547 = load ptr, ptr %546, align 8
  %548 = load ptr, ptr %26, align 8
  %549 = getelementptr inbounds ptr, ptr %548, i64 %543
  %550 = load ptr, ptr %549, align 8
  %551 = icmp eq ptr %547, %550
  br i1 %551, label %555, label %552

552:                                              ; preds = %545
  %553 = getelementptr inbounds %struct.model_buffer, ptr %546, i64 0, i32 1
  %554 = load i64, ptr %553, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %550, ptr align 1 %547, i64 %554, i1 false)
  br label %555

555:                                              ; preds = %542, %552, %545, %430, %438, %468, %493, %503, %510
  %556 = phi ptr [ %325, %438 ], [ %514, %510 ], [ %499, %493 ], [ null, %503 ], [ %469, %468 ], [ %431, %430 ], [ null, %545 ], [ null, %552 ], [ null, %542 ]
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %11) #9
  %557 = ptrtoint ptr %298 to i64
  %558 = cmpxchg ptr %244, i64 0, i64 %557 acq_rel monotonic, align 8
  %559 = extractvalue { i64, i1 } %558, 1
  br i1 %559, label %599, label %560

560:                                              ; preds = %555
  %561 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %562 = cmpxchg ptr %561, i64 0, i64 %557 acq_rel monotonic, align 8
  %563 = extractvalue { i64, i1 } %562, 1
  br i1 %563, label %599, label %564

564:                                              ; preds = %560
  %565 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %566 = cmpxchg ptr %565, i64 0, i64 %557 acq_rel monotonic, align 8
  %567 = extractvalue { i64, i1 } %566, 1
  br i1 %567, label %599, label %568

568:                                              ; preds = %564
  %569 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %570 = cmpxchg ptr %569, i64 0, i64 %557 acq_rel monotonic, align 8
  %571 = extractvalue { i64, i1 } %570, 1
  br i1 %571, label %599, label %572

572:                                              ; preds = %568
  %573 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %574 = cmpxchg ptr %573, i64 0, i64 %557 acq_rel monotonic, align 8
  %575 = extractvalue { i64, i1 } %574, 1
  br i1 %575, label %599, label %576

576:                                              ; preds = %572
  %577 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %578 = cmpxchg ptr %577, i64 0, i64 %557 acq_rel monotonic, align 8
  %579 = extractvalue { i64, i1 } %578, 1
  br i1 %579, label %599, label %580

580:                                              ; preds = %576
  %581 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %582 = cmpxchg ptr %581, i64 0, i64 %557 acq_rel monotonic, align 8
  %583 = extractvalue { i64, i1 } %582, 1
  br i1 %583, label %599, label %584

584:                                              ; preds = %580
  %585 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %586 = cmpxchg ptr %585, i64 0, i64 %557 acq_rel monotonic, align 8
  %587 = extractvalue { i64, i1 } %586, 1
  br i1 %587, label %599, label %588

588:                                              ; preds = %584
  %589 = load ptr, ptr %0, align 8
  %590 = getelementptr inbounds %struct.ort_api, ptr %589, i64 0, i32 14
  %591 = load ptr, ptr %590, align 8
  %592 = load ptr, ptr %245, align 8
  %593 = call ptr %591(ptr noundef %592, ptr noundef nonnull %298) #8
  %594 = icmp eq ptr %593, null
  br i1 %594, label %599, label %595

595:                                              ; preds = %588
  %596 = load ptr, ptr %0, align 8
  %597 = getelementptr inbounds %struct.ort_api, ptr %596, i64 0, i32 24
  %598 = load ptr, ptr %597, align 8
  call void %598(ptr noundef nonnull %593) #8
  br label %599

599:                                              ; preds = %595, %588, %584, %580, %576, %572, %568, %564, %560, %555, %278, %164, %238, %293, %166
  %600 = phi ptr [ %169, %166 ], [ %242, %238 ], [ %295, %293 ], [ %165, %164 ], [ %276, %278 ], [ %556, %555 ], [ %556, %560 ], [ %556, %564 ], [ %556, %568 ], [ %556, %572 ], [ %556, %576 ], [ %556, %580 ], [ %556, %584 ], [ %556, %588 ], [ %556, %595 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %20) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %19) #9
  ret ptr %600
}

declare i32 @model_input(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_output(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_init() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc ptr @fail(ptr nocapture noundef readonly %0, i32 noundef %1, ptr nocapture noundef readonly %2) unnamed_addr #0 {
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  store i64 0, ptr %5, align 8
  %6 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %7 = load ptr, ptr %4, align 8
  %8 = load i8, ptr %7, align 1
  %9 = icmp eq i8 %8, 0
  br i1 %9, label %23, label %10

10:                                               ; preds = %3, %15
  %11 = phi i8 [ %19, %15 ], [ %8, %3 ]
  %12 = phi ptr [ %16, %15 ], [ %7, %3 ]
  %13 = load i64, ptr %5, align 8
  %14 = icmp ult i64 %13, 511
  br i1 %14, label %15, label %23

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %12, i64 1
  %17 = add nuw nsw i64 %13, 1
  store i64 %17, ptr %5, align 8
  %18 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %13
  store i8 %11, ptr %18, align 1
  %19 = load i8, ptr %16, align 1
  %20 = icmp eq i8 %19, 0
  br i1 %20, label %21, label %10, !llvm.loop !4

21:                                               ; preds = %15
  %22 = load i64, ptr %5, align 8
  br label %23

23:                                               ; preds = %10, %21, %3
  %24 = phi i64 [ 0, %3 ], [ %22, %21 ], [ %13, %10 ]
  %25 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %24
  store i8 0, ptr %25, align 1
  %26 = load i64, ptr %5, align 8
  %27 = icmp ult i64 %26, 511
  br i1 %27, label %28, label %37

28:                                               ; preds = %23
  %29 = add nuw nsw i64 %26, 1
  store i64 %29, ptr %5, align 8
  %30 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %26
  store i8 58, ptr %30, align 1
  %31 = load i64, ptr %5, align 8
  %32 = icmp ult i64 %31, 511
  br i1 %32, label %33, label %37

33:                                               ; preds = %28
  %34 = add nuw nsw i64 %31, 1
  store i64 %34, ptr %5, align 8
  %35 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %31
  store i8 32, ptr %35, align 1
  %36 = load i64, ptr %5, align 8
  br label %37

37:                                               ; preds = %23, %28, %33
  %38 = phi i64 [ %36, %33 ], [ %31, %28 ], [ %26, %23 ]
  %39 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %38
  store i8 0, ptr %39, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %40 = load i8, ptr %2, align 1
  %41 = icmp eq i8 %40, 0
  br i1 %41, label %53, label %42

42:                                               ; preds = %37, %47
  %43 = phi i8 [ %51, %47 ], [ %40, %37 ]
  %44 = phi ptr [ %48, %47 ], [ %2, %37 ]
  %45 = load i64, ptr %5, align 8
  %46 = icmp ult i64 %45, 511
  br i1 %46, label %47, label %53

47:                                               ; preds = %42
  %48 = getelementptr inbounds i8, ptr %44, i64 1
  %49 = add nuw nsw i64 %45, 1
  store i64 %49, ptr %5, align 8
  %50 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %45
  store i8 %43, ptr %50, align 1
  %51 = load i8, ptr %48, align 1
  %52 = icmp eq i8 %51, 0
  br i1 %52, label %53, label %42, !llvm.loop !4

53:                                               ; preds = %42, %47, %37
  %54 = load i64, ptr %5, align 8
  %55 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %58 = call ptr %56(i32 noundef %1, ptr noundef nonnull %57) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  ret ptr %58
}

declare ptr @model_status_text(i32 noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #5

; Function Attrs: nounwind
define internal fastcc ptr @refuse_shape(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef readonly %2, i64 noundef %3) unnamed_addr #0 {
  %5 = alloca %struct.model_description, align 8
  %6 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %6, align 8
  %7 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %8 = load ptr, ptr %5, align 8
  %9 = load i8, ptr %8, align 1
  %10 = icmp eq i8 %9, 0
  br i1 %10, label %22, label %11

11:                                               ; preds = %4, %16
  %12 = phi i8 [ %20, %16 ], [ %9, %4 ]
  %13 = phi ptr [ %17, %16 ], [ %8, %4 ]
  %14 = load i64, ptr %6, align 8
  %15 = icmp ult i64 %14, 511
  br i1 %15, label %16, label %22

16:                                               ; preds = %11
  %17 = getelementptr inbounds i8, ptr %13, i64 1
  %18 = add nuw nsw i64 %14, 1
  store i64 %18, ptr %6, align 8
  %19 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %14
  store i8 %12, ptr %19, align 1
  %20 = load i8, ptr %17, align 1
  %21 = icmp eq i8 %20, 0
  br i1 %21, label %22, label %11, !llvm.loop !4

22:                                               ; preds = %16, %11, %4
  %23 = load i64, ptr %6, align 8
  %24 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %23
  store i8 0, ptr %24, align 1
  %25 = load i64, ptr %6, align 8
  %26 = icmp ult i64 %25, 511
  br i1 %26, label %27, label %36

27:                                               ; preds = %22
  %28 = add nuw nsw i64 %25, 1
  store i64 %28, ptr %6, align 8
  %29 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %25
  store i8 58, ptr %29, align 1
  %30 = load i64, ptr %6, align 8
  %31 = icmp ult i64 %30, 511
  br i1 %31, label %32, label %36

32:                                               ; preds = %27
  %33 = add nuw nsw i64 %30, 1
  store i64 %33, ptr %6, align 8
  %34 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %30
  store i8 32, ptr %34, align 1
  %35 = load i64, ptr %6, align 8
  br label %36

36:                                               ; preds = %22, %27, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %27 ], [ %25, %22 ]
  %38 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %37
  store i8 0, ptr %38, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  %39 = load i64, ptr %6, align 8
  %40 = icmp ult i64 %39, 511
  br i1 %40, label %41, label %75

41:                                               ; preds = %36
  %42 = add nuw nsw i64 %39, 1
  store i64 %42, ptr %6, align 8
  %43 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %39
  store i8 105, ptr %43, align 1
  %44 = load i64, ptr %6, align 8
  %45 = icmp ult i64 %44, 511
  br i1 %45, label %46, label %75

46:                                               ; preds = %41
  %47 = add nuw nsw i64 %44, 1
  store i64 %47, ptr %6, align 8
  %48 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %44
  store i8 110, ptr %48, align 1
  %49 = load i64, ptr %6, align 8
  %50 = icmp ult i64 %49, 511
  br i1 %50, label %51, label %75

51:                                               ; preds = %46
  %52 = add nuw nsw i64 %49, 1
  store i64 %52, ptr %6, align 8
  %53 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %49
  store i8 112, ptr %53, align 1
  %54 = load i64, ptr %6, align 8
  %55 = icmp ult i64 %54, 511
  br i1 %55, label %56, label %75

56:                                               ; preds = %51
  %57 = add nuw nsw i64 %54, 1
  store i64 %57, ptr %6, align 8
  %58 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %54
  store i8 117, ptr %58, align 1
  %59 = load i64, ptr %6, align 8
  %60 = icmp ult i64 %59, 511
  br i1 %60, label %61, label %75

61:                                               ; preds = %56
  %62 = add nuw nsw i64 %59, 1
  store i64 %62, ptr %6, align 8
  %63 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %59
  store i8 116, ptr %63, align 1
  %64 = load i64, ptr %6, align 8
  %65 = icmp ult i64 %64, 511
  br i1 %65, label %66, label %75

66:                                               ; preds = %61
  %67 = add nuw nsw i64 %64, 1
  store i64 %67, ptr %6, align 8
  %68 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %64
  store i8 32, ptr %68, align 1
  %69 = load i64, ptr %6, align 8
  %70 = icmp ult i64 %69, 511
  br i1 %70, label %71, label %75

71:                                               ; preds = %66
  %72 = add nuw nsw i64 %69, 1
  store i64 %72, ptr %6, align 8
  %73 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %69
  store i8 39, ptr %73, align 1
  %74 = load i64, ptr %6, align 8
  br label %75

75:                                               ; preds = %71, %66, %61, %56, %51, %46, %41, %36
  %76 = phi i64 [ %74, %71 ], [ %69, %66 ], [ %64, %61 ], [ %59, %56 ], [ %54, %51 ], [ %49, %46 ], [ %44, %41 ], [ %39, %36 ]
  %77 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %76
  store i8 0, ptr %77, align 1
  %78 = load ptr, ptr %1, align 8
  %79 = load i8, ptr %78, align 1
  %80 = icmp eq i8 %79, 0
  br i1 %80, label %92, label %81

81:                                               ; preds = %75, %86
  %82 = phi i8 [ %90, %86 ], [ %79, %75 ]
  %83 = phi ptr [ %87, %86 ], [ %78, %75 ]
  %84 = load i64, ptr %6, align 8
  %85 = icmp ult i64 %84, 511
  br i1 %85, label %86, label %92

86:                                               ; preds = %81
  %87 = getelementptr inbounds i8, ptr %83, i64 1
  %88 = add nuw nsw i64 %84, 1
  store i64 %88, ptr %6, align 8
  %89 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %84
  store i8 %82, ptr %89, align 1
  %90 = load i8, ptr %87, align 1
  %91 = icmp eq i8 %90, 0
  br i1 %91, label %92, label %81, !llvm.loop !4

92:                                               ; preds = %81, %86, %75
  %93 = load i64, ptr %6, align 8
  %94 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  %95 = load i64, ptr %6, align 8
  %96 = icmp ult i64 %95, 511
  br i1 %96, label %97, label %156

97:                                               ; preds = %92
  %98 = add nuw nsw i64 %95, 1
  store i64 %98, ptr %6, align 8
  %99 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %95
  store i8 39, ptr %99, align 1
  %100 = load i64, ptr %6, align 8
  %101 = icmp ult i64 %100, 511
  br i1 %101, label %102, label %156

102:                                              ; preds = %97
  %103 = add nuw nsw i64 %100, 1
  store i64 %103, ptr %6, align 8
  %104 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %100
  store i8 32, ptr %104, align 1
  %105 = load i64, ptr %6, align 8
  %106 = icmp ult i64 %105, 511
  br i1 %106, label %107, label %156

107:                                              ; preds = %102
  %108 = add nuw nsw i64 %105, 1
  store i64 %108, ptr %6, align 8
  %109 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %105
  store i8 104, ptr %109, align 1
  %110 = load i64, ptr %6, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %156

112:                                              ; preds = %107
  %113 = add nuw nsw i64 %110, 1
  store i64 %113, ptr %6, align 8
  %114 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %110
  store i8 97, ptr %114, align 1
  %115 = load i64, ptr %6, align 8
  %116 = icmp ult i64 %115, 511
  br i1 %116, label %117, label %156

117:                                              ; preds = %112
  %118 = add nuw nsw i64 %115, 1
  store i64 %118, ptr %6, align 8
  %119 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %115
  store i8 115, ptr %119, align 1
  %120 = load i64, ptr %6, align 8
  %121 = icmp ult i64 %120, 511
  br i1 %121, label %122, label %156

122:                                              ; preds = %117
  %123 = add nuw nsw i64 %120, 1
  store i64 %123, ptr %6, align 8
  %124 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %120
  store i8 32, ptr %124, align 1
  %125 = load i64, ptr %6, align 8
  %126 = icmp ult i64 %125, 511
  br i1 %126, label %127, label %156

127:                                              ; preds = %122
  %128 = add nuw nsw i64 %125, 1
  store i64 %128, ptr %6, align 8
  %129 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %125
  store i8 115, ptr %129, align 1
  %130 = load i64, ptr %6, align 8
  %131 = icmp ult i64 %130, 511
  br i1 %131, label %132, label %156

132:                                              ; preds = %127
  %133 = add nuw nsw i64 %130, 1
  store i64 %133, ptr %6, align 8
  %134 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %130
  store i8 104, ptr %134, align 1
  %135 = load i64, ptr %6, align 8
  %136 = icmp ult i64 %135, 511
  br i1 %136, label %137, label %156

137:                                              ; preds = %132
  %138 = add nuw nsw i64 %135, 1
  store i64 %138, ptr %6, align 8
  %139 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %135
  store i8 97, ptr %139, align 1
  %140 = load i64, ptr %6, align 8
  %141 = icmp ult i64 %140, 511
  br i1 %141, label %142, label %156

142:                                              ; preds = %137
  %143 = add nuw nsw i64 %140, 1
  store i64 %143, ptr %6, align 8
  %144 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %140
  store i8 112, ptr %144, align 1
  %145 = load i64, ptr %6, align 8
  %146 = icmp ult i64 %145, 511
  br i1 %146, label %147, label %156

147:                                              ; preds = %142
  %148 = add nuw nsw i64 %145, 1
  store i64 %148, ptr %6, align 8
  %149 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %145
  store i8 101, ptr %149, align 1
  %150 = load i64, ptr %6, align 8
  %151 = icmp ult i64 %150, 511
  br i1 %151, label %152, label %156

152:                                              ; preds = %147
  %153 = add nuw nsw i64 %150, 1
  store i64 %153, ptr %6, align 8
  %154 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %150
  store i8 32, ptr %154, align 1
  %155 = load i64, ptr %6, align 8
  br label %156

156:                                              ; preds = %152, %147, %142, %137, %132, %127, %122, %117, %112, %107, %102, %97, %92
  %157 = phi i64 [ %155, %152 ], [ %150, %147 ], [ %145, %142 ], [ %140, %137 ], [ %135, %132 ], [ %130, %127 ], [ %125, %122 ], [ %120, %117 ], [ %115, %112 ], [ %110, %107 ], [ %105, %102 ], [ %100, %97 ], [ %95, %92 ]
  %158 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %157
  store i8 0, ptr %158, align 1
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef %2, i64 noundef %3) #10
  br label %159

159:                                              ; preds = %176, %156
  %160 = phi i8 [ 32, %156 ], [ %182, %176 ]
  %161 = phi ptr [ @.str.14, %156 ], [ %179, %176 ]
  %162 = load i64, ptr %6, align 8
  %163 = icmp ult i64 %162, 511
  br i1 %163, label %164, label %186

164:                                              ; preds = %159
  %165 = add nuw nsw i64 %162, 1
  store i64 %165, ptr %6, align 8
  %166 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %162
  store i8 %160, ptr %166, align 1
  %167 = load i64, ptr %6, align 8
  %168 = icmp ult i64 %167, 511
  br i1 %168, label %169, label %186

169:                                              ; preds = %164
  %170 = getelementptr inbounds i8, ptr %161, i64 1
  %171 = load i8, ptr %170, align 1
  %172 = add nuw nsw i64 %167, 1
  store i64 %172, ptr %6, align 8
  %173 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %167
  store i8 %171, ptr %173, align 1
  %174 = load i64, ptr %6, align 8
  %175 = icmp ult i64 %174, 511
  br i1 %175, label %176, label %186

176:                                              ; preds = %169
  %177 = getelementptr inbounds i8, ptr %161, i64 2
  %178 = load i8, ptr %177, align 1
  %179 = getelementptr inbounds i8, ptr %161, i64 3
  %180 = add nuw nsw i64 %174, 1
  store i64 %180, ptr %6, align 8
  %181 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %174
  store i8 %178, ptr %181, align 1
  %182 = load i8, ptr %179, align 1
  %183 = icmp eq ptr %179, getelementptr inbounds ([22 x i8], ptr @.str.14, i64 0, i64 21)
  br i1 %183, label %184, label %159, !llvm.loop !4

184:                                              ; preds = %176
  %185 = load i64, ptr %6, align 8
  br label %186

186:                                              ; preds = %159, %164, %169, %184
  %187 = phi i64 [ %185, %184 ], [ %162, %159 ], [ %167, %164 ], [ %174, %169 ]
  %188 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %187
  store i8 0, ptr %188, align 1
  %189 = getelementptr inbounds %struct.model_tensor, ptr %1, i64 0, i32 4
  %190 = getelementptr inbounds %struct.model_tensor, ptr %1, i64 0, i32 2
  %191 = load i32, ptr %190, align 8
  %192 = zext i32 %191 to i64
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %189, i64 noundef %192) #10
  %193 = load ptr, ptr %0, align 8
  %194 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1
  %195 = call ptr %193(i32 noundef 2, ptr noundef nonnull %194) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %6) #9
  ret ptr %195
}

; Function Attrs: nofree nosync nounwind memory(argmem: readwrite)
define internal fastcc void @add_shape(ptr nocapture noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #6 {
  %4 = alloca [24 x i8], align 16
  %5 = load i64, ptr %0, align 8
  %6 = icmp ult i64 %5, 511
  br i1 %6, label %7, label %11

7:                                                ; preds = %3
  %8 = add nuw nsw i64 %5, 1
  store i64 %8, ptr %0, align 8
  %9 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %5
  store i8 91, ptr %9, align 1
  %10 = load i64, ptr %0, align 8
  br label %11

11:                                               ; preds = %7, %3
  %12 = phi i64 [ %10, %7 ], [ %5, %3 ]
  %13 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %12
  store i8 0, ptr %13, align 1
  %14 = icmp eq i64 %2, 0
  br i1 %14, label %19, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds i8, ptr %4, i64 23
  %17 = add i64 %2, -1
  %18 = tail call i64 @llvm.umin.i64(i64 %17, i64 7)
  br label %38

19:                                               ; preds = %96, %11
  %20 = icmp ugt i64 %2, 8
  %21 = select i1 %20, ptr @.str.18, ptr @.str.19
  %22 = load i8, ptr %21, align 1
  %23 = icmp eq i8 %22, 0
  br i1 %23, label %35, label %24

24:                                               ; preds = %19, %29
  %25 = phi i8 [ %33, %29 ], [ %22, %19 ]
  %26 = phi ptr [ %30, %29 ], [ %21, %19 ]
  %27 = load i64, ptr %0, align 8
  %28 = icmp ult i64 %27, 511
  br i1 %28, label %29, label %35

29:                                               ; preds = %24
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = add nuw nsw i64 %27, 1
  store i64 %31, ptr %0, align 8
  %32 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %27
  store i8 %25, ptr %32, align 1
  %33 = load i8, ptr %30, align 1
  %34 = icmp eq i8 %33, 0
  br i1 %34, label %35, label %24, !llvm.loop !4

35:                                               ; preds = %24, %29, %19
  %36 = load i64, ptr %0, align 8
  %37 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %36
  store i8 0, ptr %37, align 1
  ret void

38:                                               ; preds = %15, %96
  %39 = phi i64 [ 0, %15 ], [ %97, %96 ]
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %56, label %41

41:                                               ; preds = %38
  %42 = load i64, ptr %0, align 8
  %43 = icmp ult i64 %42, 511
  br i1 %43, label %44, label %53

44:                                               ; preds = %41
  %45 = add nuw nsw i64 %42, 1
  store i64 %45, ptr %0, align 8
  %46 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %42
  store i8 44, ptr %46, align 1
  %47 = load i64, ptr %0, align 8
  %48 = icmp ult i64 %47, 511
  br i1 %48, label %49, label %53

49:                                               ; preds = %44
  %50 = add nuw nsw i64 %47, 1
  store i64 %50, ptr %0, align 8
  %51 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %47
  store i8 32, ptr %51, align 1
  %52 = load i64, ptr %0, align 8
  br label %53

53:                                               ; preds = %49, %44, %41
  %54 = phi i64 [ %52, %49 ], [ %47, %44 ], [ %42, %41 ]
  %55 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  br label %56

56:                                               ; preds = %53, %38
  %57 = getelementptr inbounds i64, ptr %1, i64 %39
  %58 = load i64, ptr %57, align 8
  %59 = icmp slt i64 %58, 0
  br i1 %59, label %60, label %70

60:                                               ; preds = %56
  %61 = load i64, ptr %0, align 8
  %62 = icmp ult i64 %61, 511
  br i1 %62, label %63, label %67

63:                                               ; preds = %60
  %64 = add nuw nsw i64 %61, 1
  store i64 %64, ptr %0, align 8
  %65 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %61
  store i8 63, ptr %65, align 1
  %66 = load i64, ptr %0, align 8
  br label %67

67:                                               ; preds = %63, %60
  %68 = phi i64 [ %66, %63 ], [ %61, %60 ]
  %69 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %68
  store i8 0, ptr %69, align 1
  br label %96

70:                                               ; preds = %56
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %4) #9
  store i8 0, ptr %16, align 1
  br label %71

71:                                               ; preds = %71, %70
  %72 = phi ptr [ %16, %70 ], [ %77, %71 ]
  %73 = phi i64 [ %58, %70 ], [ %78, %71 ]
  %74 = urem i64 %73, 10
  %75 = trunc i64 %74 to i8
  %76 = or i8 %75, 48
  %77 = getelementptr inbounds i8, ptr %72, i64 -1
  store i8 %76, ptr %77, align 1
  %78 = udiv i64 %73, 10
  %79 = icmp ult i64 %73, 10
  br i1 %79, label %80, label %71, !llvm.loop !7

80:                                               ; preds = %71, %85
  %81 = phi i8 [ %89, %85 ], [ %76, %71 ]
  %82 = phi ptr [ %86, %85 ], [ %77, %71 ]
  %83 = load i64, ptr %0, align 8
  %84 = icmp ult i64 %83, 511
  br i1 %84, label %85, label %93

85:                                               ; preds = %80
  %86 = getelementptr inbounds i8, ptr %82, i64 1
  %87 = add nuw nsw i64 %83, 1
  store i64 %87, ptr %0, align 8
  %88 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %83
  store i8 %81, ptr %88, align 1
  %89 = load i8, ptr %86, align 1
  %90 = icmp eq i8 %89, 0
  br i1 %90, label %91, label %80, !llvm.loop !4

91:                                               ; preds = %85
  %92 = load i64, ptr %0, align 8
  br label %93

93:                                               ; preds = %80, %91
  %94 = phi i64 [ %92, %91 ], [ %83, %80 ]
  %95 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %94
  store i8 0, ptr %95, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %4) #9
  br label %96

96:                                               ; preds = %67, %93
  %97 = add nuw nsw i64 %39, 1
  %98 = icmp eq i64 %39, %18
  br i1 %98, label %19, label %38, !llvm.loop !20
}

declare i64 @model_workspace_bytes(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @launch(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = alloca %struct.job, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #9
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds %struct.job, ptr %5, i64 0, i32 1
  store ptr %2, ptr %6, align 8
  %7 = load ptr, ptr %0, align 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.ort_api, ptr %8, i64 0, i32 30
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = zext i32 %3 to i64
  %14 = call ptr %10(ptr noundef %12, ptr noundef nonnull @run_task, i64 noundef %13, i64 noundef 0, ptr noundef nonnull %5) #8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %26, label %16

16:                                               ; preds = %4
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %25, label %20

20:                                               ; preds = %16
  %21 = load ptr, ptr %0, align 8
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds %struct.ort_api, ptr %22, i64 0, i32 24
  %24 = load ptr, ptr %23, align 8
  call void %24(ptr noundef nonnull %14) #8
  br label %26

25:                                               ; preds = %16
  store ptr %14, ptr %17, align 8
  br label %26

26:                                               ; preds = %4, %25, %20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #9
  ret void
}

declare i32 @model_run(ptr noundef, ptr noundef, ptr noundef, ptr, i64, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @run_task(ptr nocapture noundef readonly %0, i64 noundef %1) #0 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.job, ptr %0, i64 0, i32 1
  %5 = load ptr, ptr %4, align 8
  %6 = trunc i64 %1 to i32
  tail call void %3(ptr noundef %5, i32 noundef %6) #8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #7

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nofree nosync nounwind memory(argmem: readwrite) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nobuiltin nounwind "no-builtins" }
attributes #9 = { nounwind }
attributes #10 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = distinct !{!8, !3, !9, !10}
!9 = !{!"llvm.loop.isvectorized", i32 1}
!10 = !{!"llvm.loop.unroll.runtime.disable"}
!11 = distinct !{!11, !3}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3, !10, !9}
!14 = distinct !{!14, !3}
!15 = distinct !{!15, !3}
!16 = distinct !{!16, !3}
!17 = distinct !{!17, !3}
!18 = distinct !{!18, !3}
!19 = distinct !{!19, !3}
!20 = distinct !{!20, !3}
